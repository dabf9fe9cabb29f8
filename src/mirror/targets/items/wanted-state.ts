/** The state that an item should have: the task's or, for a card, what the settings say about its column. Pure. */
import type { ItemState, TaskState } from '../../../contract/target.ts';

export type Wanted =
  | { readonly status: 'completed' }
  | { readonly status: 'open' }
  /** Closed, because the task is gone: as work that is not done, if the outside system knows that. */
  | { readonly status: 'cancelled' }
  /** A status of the outside system, by its name. */
  | { readonly status: 'named'; readonly name: string };

/** `columns`: the state of a card by the name of its column; for other columns `isCompleted` decides. */
export function wantedState(task: TaskState, columns: Readonly<Record<string, string>>): Wanted {
  const name = task.kind === 'card' ? lookUp(columns, task.status) : undefined;
  if (name === undefined) return { status: stateWord(task.isCompleted) };
  return name === 'completed' || name === 'open' ? { status: name } : { status: 'named', name };
}

/** The state of an item or a task that has no other name for it. */
export function stateWord(isCompleted: boolean): 'completed' | 'open' {
  return isCompleted ? 'completed' : 'open';
}

/** An item whose state has no other name. */
export function plainItem(itemId: string, isCompleted: boolean): ItemState {
  return { itemId, isCompleted, status: stateWord(isCompleted) };
}

export function isInState(item: ItemState, wanted: Wanted): boolean {
  switch (wanted.status) {
    case 'completed':
    case 'cancelled':
      return item.isCompleted;
    case 'open':
      return !item.isCompleted;
    case 'named':
      return isSameName(item.status, wanted.name);
    default:
      return wanted satisfies never;
  }
}

/** For people: "completed", "open", or the name in quotes. */
export function describeWanted(wanted: Wanted): string {
  return wanted.status === 'named' ? `"${wanted.name}"` : wanted.status;
}

/** Names of columns and statuses are compared without case and extra spaces. */
export function isSameName(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

function lookUp(columns: Readonly<Record<string, string>>, column: string): string | undefined {
  return Object.entries(columns).find(([name]) => isSameName(name, column))?.[1];
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
