/** The operations of the API about rows in review. */
import { z } from 'zod';
import { CHOICES } from '../../engine/ledger/decisions.ts';
import { cursorOf, MOST_COUNTED, reviewPage } from '../../engine/ledger/views/review-items.ts';
import { itemResult, longId } from '../../operator/review.ts';
import { decisionState } from '../../operator/review-decisions.ts';
import { ordersOfSameCustomer } from '../../operator/same-customer.ts';
import {
  decideGroup,
  decideItem,
  GROUP_CHOICES,
  markOf,
  readGroup,
  readReviewed,
  undoItem,
} from '../actions/review-actions.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { reviewQuery } from './filters.ts';
import { done, limit, next, pageOf } from './shapes.ts';

const ofItem = z.object({
  id: z.string().describe('Id of the item, such as `acme/contact-14` or `RUN/LINE`, encoded.'),
});
const item = z.looseObject({
  id: z.string(),
  reason: z.string(),
  statement: z.string(),
  choices: z.array(z.enum(CHOICES)),
});
const note = z.string().max(1_000).optional().describe('Why, for others to read.');
const group = reviewQuery.omit({ after: true });
const groupChoice = z.enum(GROUP_CHOICES);
const decision = z.looseObject({ id: z.string(), entry: z.number(), choice: z.enum(CHOICES), state: z.string() });

export const reviewEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'review',
    summary: 'The rows that wait for a person, by reason',
    route: 'GET /review',
    query: reviewQuery.extend({ limit }),
    answer: z.object({
      items: z.array(item),
      total: z.number(),
      isMore: z
        .boolean()
        .describe(`Whether more rows wait than \`total\`, which counts at most ${MOST_COUNTED} rows of each reason.`),
      groups: z.record(z.string(), z.number()),
      next,
    }),
    async work({ pool, hint }, { query: { limit, after, ...filter } }) {
      const { items, total, isMore, groups } = await reviewPage(pool, filter, { limit: limit + 1, after });
      const { shown, next } = pageOf(items, limit, (last) => JSON.stringify(cursorOf(last)));
      return { items: shown.map((one) => itemResult(longId(one), one, hint)), total, isMore, groups, next };
    },
  }),
  defineEndpoint({
    name: 'review-item',
    summary: 'One row in review: its evidence, and the decisions about it',
    route: 'GET /review/items/{id}',
    params: ofItem,
    answer: z.object({
      item: item
        .extend({
          mark: z.string().describe('Send it with a decision.'),
          sameCustomer: z
            .number()
            .describe(
              `How many other orders of its load name the same customer, and wait; ${MOST_COUNTED + 1}: or more.`,
            ),
        })
        .nullable()
        .describe('Null if the row does not wait for a person.'),
      decisions: z.array(decision),
    }),
    async work({ pool, hint }, { params }) {
      const { item, decisions } = await readReviewed(pool, params.id);
      return {
        item: item
          ? {
              ...itemResult(longId(item), item, hint),
              mark: markOf(item, decisions),
              sameCustomer: (await ordersOfSameCustomer(pool, item, MOST_COUNTED + 1)).length,
            }
          : null,
        decisions: decisions.map((one) => ({ id: longId(one), ...one, state: decisionState(one) })),
      };
    },
  }),
  defineEndpoint({
    name: 'decide',
    summary: 'Decide about a row in review. Refused if someone decided first, or the evidence has changed',
    route: 'POST /review/items/{id}/decide',
    params: ofItem,
    body: z
      .object({
        choice: z.enum(CHOICES),
        record: z.string().min(1).max(200).optional().describe('The record to use; only with `use`.'),
        note,
        mark: z.string().describe('The `mark` of the item that was read.'),
        sameCustomer: z
          .boolean()
          .optional()
          .describe('Decide equally about the other orders of its load that name the same customer.'),
      })
      .refine(({ choice, record }) => (choice === 'use') === (record !== undefined), {
        path: ['record'],
        error: 'expected with the choice use, and only with it',
      }),
    answer: done,
    work: (needs, { taking, params, body }) => decideItem(needs, taking, params.id, body),
  }),
  defineEndpoint({
    name: 'review-group',
    summary: 'How many rows of a reason one decision would be about',
    route: 'GET /review/group',
    query: group.extend({ choice: groupChoice }),
    answer: z.object({ rows: z.number(), mark: z.string().describe('Send it with the decision.') }),
    async work({ pool }, { query: { choice, ...which } }) {
      const { items, mark } = await readGroup(pool, which, choice);
      return { rows: items.length, mark };
    },
  }),
  defineEndpoint({
    name: 'decide-group',
    summary: 'Ignore all rows of a reason, or keep them for later. Refused if they are not the rows that were read',
    route: 'POST /review/group',
    body: group.extend({ choice: groupChoice, note, mark: z.string().describe('The `mark` of review-group.') }),
    answer: done,
    work: (needs, { taking, body: { choice, note, mark, ...which } }) =>
      decideGroup(needs, taking, which, { choice, note, mark }),
  }),
  defineEndpoint({
    name: 'undo-decision',
    summary: 'Undo a decision that is not applied yet',
    route: 'POST /review/items/{id}/undo',
    params: ofItem,
    body: z.object({
      entry: z.number().int().describe('The `entry` of the decision.'),
      sameCustomer: z.boolean().optional().describe('Undo the equal decisions about other orders of its load too.'),
    }),
    answer: done,
    work: (needs, { taking, params, body }) => undoItem(needs, taking, params.id, body),
  }),
];
