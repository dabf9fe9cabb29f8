/** What lists can be filtered by, in pages and in the API. */
import { z } from 'zod';
import { DECIDED_PROBLEMS, PROBLEMS, VERDICTS } from '../../engine/ledger/rows.ts';
import { RUN_STATUSES, type Run } from '../../engine/ledger/runs.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import type { ReviewCursor } from '../../engine/ledger/views/review-items.ts';
import type { RowFilter } from '../../engine/ledger/views/row-pages.ts';
import type { RunFilter } from '../../engine/ledger/views/run-list.ts';
import { type LinkCursor, type LinkFilter, listLinks } from '../../mirror/links/list-links.ts';
import { DELIVERY_STATES, type DeliveryFilter } from '../../mirror/outbox/deliveries.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { afterNumber, afterPlace } from './shapes.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const text = z.string().max(200);
const day = z.iso.date('expected a day, such as 2026-11-22');
const verdict = z.enum(VERDICTS);
const flag = z.stringbool().prefault('false');

export const runQuery = z.object({
  sync: text.optional().describe('Name of the sync, or of the loaded file.'),
  account: text.optional(),
  status: z.enum(RUN_STATUSES).optional(),
  verdict: verdict.optional().describe('Only runs with a row of this verdict.'),
  from: day.optional().describe('Started on this day (UTC) or later.'),
  to: day.optional().describe('Started on this day (UTC) or earlier.'),
  all: flag.describe(
    'Whether each run is an entry. If false, successive runs of a sync that found nothing new are one entry. Default: false.',
  ),
  after: text.optional().describe('The `next` of the page before.'),
});

export function toRunFilter({ sync, account, status, verdict, from, to }: z.output<typeof runQuery>): RunFilter {
  return { sync, account, status, verdict, ...spanOf(from, to) };
}

export const deliveryQuery = z.object({
  target: text.optional().describe('Name of the target, or `alerts.NAME` of a channel.'),
  verdict: z.enum(DELIVERY_STATES).optional(),
  from: day.optional().describe('Queued on this day (UTC) or later.'),
  to: day.optional().describe('Queued on this day (UTC) or earlier.'),
  after: text.optional().describe('The `next` of the page before.'),
});

export function toDeliveryFilter({ target, verdict, from, to }: z.output<typeof deliveryQuery>): DeliveryFilter {
  return { target, verdict, ...spanOf(from, to) };
}

function spanOf(from: string | undefined, to: string | undefined) {
  return {
    since: from === undefined ? undefined : new Date(from),
    until: to === undefined ? undefined : new Date(new Date(to).getTime() + DAY_MS),
  };
}

export const rowQuery = z.object({
  verdict: z
    .enum([...VERDICTS, 'problem'])
    .optional()
    .describe('`problem`: all that need a person. While the run is unfinished, a row without a verdict does not.'),
  reason: text.optional().describe('Code of the reason.'),
  text: text.optional().describe('Id, number or e-mail of the row, or a part of its fields.'),
  after: afterNumber,
});

export function toRowFilter({ verdict, reason, text }: z.output<typeof rowQuery>, { endedAt }: Run): RowFilter {
  const problems = endedAt === undefined ? DECIDED_PROBLEMS : PROBLEMS;
  return { verdicts: verdict === 'problem' ? problems : verdict && [verdict], reason, text };
}

export const planQuery = z.object({ kind: z.enum(['all', 'new', 'updates']).prefault('all'), after: afterNumber });
export const ARE_UPDATES = { all: undefined, new: false, updates: true } as const;

const linkPlace: z.ZodType<LinkCursor> = z
  .tuple([text, text, text])
  .transform(([target, account, task]) => ({ target, account, task }));

export const linkQuery = z.object({
  target: text.optional().describe('Name of the target.'),
  account: text.optional(),
  q: text.optional().describe('A text that occurs in the task, such as task:12, or in the item.'),
  after: afterPlace(linkPlace),
});

type LinkQuery = z.output<typeof linkQuery>;

export async function toLinkFilter(db: Queryable, { target, account, q }: LinkQuery): Promise<LinkFilter> {
  return { target, scope: account === undefined ? undefined : await scopeNamed(db, account), text: q };
}

/** The links of a page, how many there are from there on, and where the next page begins. */
export async function pageOfLinks(db: Queryable, query: LinkQuery, limit: number) {
  const { links, total } = await listLinks(db, await toLinkFilter(db, query), limit, query.after);
  const last = total > links.length ? links.at(-1) : undefined;
  return { links, total, next: last ? JSON.stringify([last.target, last.account, last.task]) : null };
}

/** `file`: the upload with the links that were checked, to be imported; `name`: its own name. */
export const linkPageQuery = linkQuery.extend({
  file: z.uuid().optional(),
  name: text.optional(),
  replace: z.literal('yes').optional(),
});

const reviewPlace: z.ZodType<ReviewCursor> = z.tuple([z.string(), z.string(), z.string(), z.number().int()]);

export const reviewQuery = z.object({
  reason: text.optional().describe('Code of the reason.'),
  account: text.optional(),
  sync: text.optional().describe('Name of the sync, or of the loaded file.'),
  after: afterPlace(reviewPlace),
});
