/** Why a row of a links file is not imported. */
import type { Reasons } from './reason.ts';

export const LINK_REASONS = {
  TASK_EMPTY: {
    meaning: 'The row names no task.',
    sentence: 'The column "{column}" is empty.',
    remedy: 'Give the id of the task.',
  },
  ITEM_EMPTY: {
    meaning: 'The row names no item.',
    sentence: 'The column "{column}" is empty.',
    remedy: 'Give the id or the address of the item.',
  },
  TASK_CUT_SHORT: {
    meaning: 'A spreadsheet shortened the id of the task.',
    sentence: 'is an id that a spreadsheet shortened.',
    remedy: 'Export it as text, with all its digits.',
  },
  TASK_INVALID: {
    meaning: 'The cell names no task.',
    sentence: 'is not a task.',
    remedy: 'Give 12, task:12, subtask:12 or card:7.',
  },
  ITEM_INVALID: {
    meaning: 'The cell names no item of the target.',
    sentence: 'is not an item of this target.',
    remedy: 'Give its id[, such as {example}], or its address.',
  },
  TASK_TWICE: {
    meaning: 'Two rows link one task with different items.',
    sentence: '{task} and {item}: line {other} links this task with another item.',
    remedy: 'Keep one.',
  },
  ITEM_TWICE: {
    meaning: 'Two rows link one item with different tasks.',
    sentence: '{task} and {item}: line {other} links this item with another task.',
    remedy: 'Keep one.',
  },
  TASK_LINKED: {
    meaning: 'The task is linked with another item already.',
    sentence: '{task} and {item}: the task is already linked with {other}.',
    remedy: 'To replace that link, import the file so that it replaces links (`--replace`), or remove the link first.',
  },
  ITEM_LINKED: {
    meaning: 'The item is linked with another task already.',
    sentence: '{task} and {item}: the item is already linked with {other}.',
    remedy: 'To replace that link, import the file so that it replaces links (`--replace`), or remove the link first.',
  },
} as const satisfies Reasons;

export type LinkCode = keyof typeof LINK_REASONS;
