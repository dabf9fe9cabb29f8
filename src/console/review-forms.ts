/** The forms of the pages about review. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CHOICES, type Choice } from '../engine/ledger/decisions.ts';
import { plainText } from './api/review-query.ts';
import { formOf, tell } from './forms.ts';
import { requirePerson } from './guard.ts';
import type { ConsoleNeeds } from './needs.ts';
import { groupAddress, itemAddress } from './pages/review-parts.tsx';
import { decideGroup, decideItem, nextAfter, readReviewed, undoItem } from './review-actions.ts';

const MOST_NOTE = 1_000;
const item = z.object({ id: plainText });
const note = plainText.trim().max(MOST_NOTE).optional();
const text = plainText.optional();
const decided = z.object({ choice: z.string(), record: text, note, mark: z.string() });
const undone = z.object({ entry: z.coerce.number().int() });
const bulk = z.object({
  choice: z.enum(['ignore', 'later']),
  reason: text,
  account: text,
  sync: text,
  note,
  mark: z.string(),
});

export function addReviewForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  app.post('/review/items/:id/decide', async (request, reply) => {
    const person = requirePerson(request);
    const { id } = item.parse(request.params);
    const { choice: button, record, ...given } = decided.parse(filledOf(formOf(request)));
    const chosen = { ...given, ...choiceOf(button, record) };
    const before = (await readReviewed(needs.pool, id)).item;
    const done = await tell(reply, needs, () => decideItem(needs, { person, via: 'page' }, id, chosen));
    if (!done || !before) return reply.redirect(itemAddress(id), 303);
    const next = await nextAfter(needs.pool, before);
    return reply.redirect(next === undefined ? '/review' : itemAddress(next), 303);
  });
  app.post('/review/items/:id/undo', async (request, reply) => {
    const person = requirePerson(request);
    const { id } = item.parse(request.params);
    const { entry } = undone.parse(filledOf(formOf(request)));
    await tell(reply, needs, () => undoItem(needs, { person, via: 'page' }, id, entry));
    return reply.redirect(itemAddress(id), 303);
  });
  app.post('/review/confirm', async (request, reply) => {
    const person = requirePerson(request);
    const { reason, account, sync, ...chosen } = bulk.parse(filledOf(formOf(request)));
    const group = { reason, account, sync };
    const done = await tell(reply, needs, () => decideGroup(needs, { person, via: 'page' }, group, chosen));
    return reply.redirect(done ? '/review' : groupAddress(group, chosen.choice), 303);
  });
}

function filledOf(form: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...form].filter(([, value]) => value.trim() !== ''));
}

/** A button says its choice; that of a candidate also its record: `use:15`. */
function choiceOf(button: string, record: string | undefined): { readonly choice: Choice; readonly record?: string } {
  const [word, ...rest] = button.split(':');
  const choice = z.enum(CHOICES).parse(word);
  if (choice !== 'use') return { choice };
  return {
    choice,
    record: z.string('enter the id of the record').parse(rest.length > 0 ? rest.join(':') : record?.trim()),
  };
}
