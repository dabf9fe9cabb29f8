/** The operations of the API about the installation as a whole: what needs a person, what people did, settings and queue. */
import { z } from 'zod';
import { listActions } from '../../engine/ledger/console/console-actions.ts';
import { QUEUE_STATES } from '../../engine/worker/queue.ts';
import { readQueue } from '../../operator/queue-states.ts';
import { statusOf } from '../../operator/status.ts';
import { lastNights } from '../../operator/sync-list.ts';
import { maskSettings } from '../../settings/mask.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { afterNumber, limit, next, pageOf, time } from './shapes.ts';

export const systemEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'status',
    summary: 'What needs a person, what runs, and what starts next',
    route: 'GET /status',
    answer: z.looseObject({
      needs: z.array(z.looseObject({ what: z.string(), why: z.string(), command: z.string() })),
    }),
    async work({ pool, settings }) {
      const { paused, ...status } = await statusOf(pool, settings());
      return { ...status, paused: [...paused.values()] };
    },
  }),
  defineEndpoint({
    name: 'nights',
    summary: 'The runs of each sync on each of the last 14 days: how many, and how the worst one ended',
    route: 'GET /nights',
    answer: z.object({ nights: z.array(z.looseObject({ sync: z.string(), day: z.string(), outcome: z.string() })) }),
    work: async ({ pool, settings }) => ({ nights: await lastNights(pool, settings()) }),
  }),
  defineEndpoint({
    name: 'settings',
    summary: 'The settings in effect, without secrets, and what may be wrong with them',
    route: 'GET /settings',
    answer: z.object({
      file: z.string(),
      problem: z.string().nullable().describe('Why the file cannot be taken now; only an operator is told.'),
      warnings: z.array(z.string()),
      settings: z.looseObject({}),
    }),
    async work({ settings, checkSettings }, { taking }) {
      const inEffect = settings();
      const { problem, warnings } = await checkSettings();
      const hidden = 'An operator sees what is wrong.';
      return {
        file: inEffect.file,
        problem: problem === undefined ? null : taking.person.role === 'operator' ? problem : hidden,
        warnings,
        settings: maskSettings(inEffect),
      };
    },
  }),
  defineEndpoint({
    name: 'queue',
    summary: 'The jobs that workers share, by state: each names a run that a worker continues',
    route: 'GET /queue',
    query: z.object({ limit }),
    answer: z.object({
      states: z.array(
        z.object({
          state: z.enum(QUEUE_STATES),
          count: z.number(),
          jobs: z.array(z.looseObject({ run: z.string(), name: z.string(), addedAt: time })),
        }),
      ),
    }),
    work: async ({ queue }, { query }) => ({ states: await readQueue(await queue(), query.limit) }),
  }),
  defineEndpoint({
    name: 'activity',
    summary: 'What people and programs did here, the newest first',
    route: 'GET /activity',
    query: z.object({
      limit,
      after: afterNumber,
    }),
    answer: z.object({
      actions: z.array(z.looseObject({ id: z.number(), at: time, who: z.string(), action: z.string() })),
      next,
    }),
    async work({ pool }, { query }) {
      const found = await listActions(pool, { ...query, limit: query.limit + 1 });
      const { shown, next } = pageOf(found, query.limit, ({ id }) => String(id));
      return { actions: shown, next };
    },
  }),
];
