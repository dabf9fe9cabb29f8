/** The forms of the pages about review. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CHOICES, type Choice } from '../../engine/ledger/decisions.ts';
import {
  decideGroup,
  decideItem,
  GROUP_CHOICES,
  nextAfter,
  readReviewed,
  undoItem,
} from '../actions/review-actions.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { groupAddress, itemAddress } from '../pages/review-parts.tsx';
import { readGiven } from '../read-given.ts';
import { onForm, tell } from './forms.ts';

const MOST_NOTE = 1_000;
const item = z.object({ id: z.string() });
const note = z.string().trim().max(MOST_NOTE).optional();
const text = z.string().optional();
const checked = z.literal('yes').optional();
const decided = z.object({ choice: z.string(), record: text, note, mark: z.string(), sameCustomer: checked });
const undone = z.object({ entry: z.coerce.number().int(), sameCustomer: checked });
const bulk = z.object({
  choice: z.enum(GROUP_CHOICES),
  reason: text,
  account: text,
  sync: text,
  note,
  mark: z.string(),
});

export function addReviewForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  onForm(app, '/review/items/:id/decide', async ({ taking, params, given, reply }) => {
    const { id } = readGiven(item, params);
    const { choice: button, record, sameCustomer, ...rest } = readGiven(decided, given);
    const chosen = { ...rest, ...choiceOf(button, record), sameCustomer: sameCustomer === 'yes' };
    const before = (await readReviewed(needs.pool, id)).item;
    const link = { path: itemAddress(id), words: 'See it, or undo it' };
    const done = await tell(reply, needs, () => decideItem(needs, taking, id, chosen), link);
    if (!done || !before) return itemAddress(id);
    const next = await nextAfter(needs.pool, before);
    return next === undefined ? '/review' : itemAddress(next);
  });
  onForm(app, '/review/items/:id/undo', async ({ taking, params, given, reply }) => {
    const { id } = readGiven(item, params);
    const { entry, sameCustomer } = readGiven(undone, given);
    await tell(reply, needs, () => undoItem(needs, taking, id, { entry, sameCustomer: sameCustomer === 'yes' }));
    return itemAddress(id);
  });
  onForm(app, '/review/confirm', async ({ taking, given, reply }) => {
    const { reason, account, sync, ...chosen } = readGiven(bulk, given);
    const group = { reason, account, sync };
    const link = { path: '/review/decisions', words: 'See the decisions, or undo them' };
    const done = await tell(reply, needs, () => decideGroup(needs, taking, group, chosen), link);
    return done ? '/review' : groupAddress(group, chosen.choice);
  });
}

/** A button says its choice; that of a candidate also its record: `use:15`. */
function choiceOf(button: string, record: string | undefined): { readonly choice: Choice; readonly record?: string } {
  const [word, ...rest] = button.split(':');
  const choice = readGiven(z.enum(CHOICES), word);
  if (choice !== 'use') return { choice };
  return {
    choice,
    record: readGiven(z.string('enter the id of the record'), rest.length > 0 ? rest.join(':') : record?.trim()),
  };
}
