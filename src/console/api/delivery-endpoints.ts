/** The operations of the API about deliveries and targets. */
import { z } from 'zod';
import { lagOf } from '../../mirror/outbox/delays.ts';
import { DELIVERY_STATES, listDeliveries } from '../../mirror/outbox/deliveries.ts';
import { targetStates } from '../../mirror/outbox/target-states.ts';
import { countOutbox, readDelivery } from '../../operator/deliveries.ts';
import { checkNow } from '../../operator/target-check.ts';
import { targetNamed } from '../../settings/settings.ts';
import { dropDeliveries, enableTarget, replayDeliveries, sendTest } from '../actions/delivery-actions.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { deliveryQuery, toDeliveryFilter } from './filters.ts';
import { done, limit, next, pageOf, time } from './shapes.ts';

const ofDelivery = z.object({ id: z.string().describe('Id of the delivery, such as msg_4Zb0hTnV2m0b5mJt1gq0XxKp.') });
const at = time.transform((text) => new Date(text));
const delivery = z.looseObject({
  id: z.string(),
  target: z.string(),
  state: z.string(),
  verdict: z.string().nullable(),
});

export const deliveryEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'targets',
    summary:
      'Targets and channels for alerts: disabled, paused or failing, waiting deliveries (`open`), dead letters, how long deliveries took',
    route: 'GET /targets',
    answer: z.object({ targets: z.array(z.looseObject({ target: z.string(), open: z.number(), dead: z.number() })) }),
    async work({ pool, settings }) {
      const [counts, states, lags] = await Promise.all([
        countOutbox(pool, settings()),
        targetStates(pool),
        lagOf(pool),
      ]);
      return {
        targets: counts.map((counted) => ({
          ...counted,
          ...states.find(({ target }) => target === counted.target),
          lag: lags.find(({ target }) => target === counted.target) ?? null,
        })),
      };
    },
  }),
  defineEndpoint({
    name: 'enable-target',
    summary: 'Enable a disabled target',
    route: 'POST /targets/{target}/enable',
    params: z.object({ target: z.string() }),
    answer: done,
    work: (needs, { taking, params }) => enableTarget(needs, taking, params.target),
  }),
  defineEndpoint({
    name: 'drop-deliveries',
    summary: 'End what waits for a target that was removed from the settings',
    route: 'POST /targets/{target}/drop',
    params: z.object({ target: z.string() }),
    answer: done,
    work: (needs, { taking, params }) => dropDeliveries(needs, taking, params.target),
  }),
  defineEndpoint({
    name: 'test-target',
    summary: 'Send a test message to a webhook, a chat, or a channel for alerts',
    route: 'POST /targets/{target}/test',
    params: z.object({ target: z.string().describe('A target, or `alerts.NAME` of a channel.') }),
    answer: done,
    work: (needs, { taking, params }) => sendTest(needs, taking, params.target),
  }),
  defineEndpoint({
    name: 'check-target',
    summary: 'Check a target against the outside system, without writing',
    route: 'GET /targets/{target}/check',
    params: z.object({ target: z.string() }),
    answer: z.object({ findings: z.array(z.looseObject({ what: z.string(), status: z.string() })) }),
    async work({ settings, pool, targets }, { params: { target } }) {
      targetNamed(settings(), target);
      return { findings: await checkNow(target, { pool, open: targets.open }) };
    },
  }),
  defineEndpoint({
    name: 'deliveries',
    summary: 'Deliveries, the newest first',
    route: 'GET /deliveries',
    query: deliveryQuery.extend({ limit }),
    answer: z.object({ deliveries: z.array(delivery), next }),
    async work({ pool }, { query }) {
      const found = await listDeliveries(pool, toDeliveryFilter(query), query.limit + 1, query.after);
      const { shown, next } = pageOf(found, query.limit, ({ id }) => id);
      return { deliveries: shown, next };
    },
  }),
  defineEndpoint({
    name: 'replay-deliveries',
    summary: 'Send all ended deliveries that match again; at least one member is needed',
    route: 'POST /deliveries/replay',
    body: z
      .object({
        target: z.string().optional(),
        verdict: z.enum(DELIVERY_STATES).optional(),
        since: at.optional().describe('Only those that were queued since then.'),
        until: at.optional().describe('Only those that were queued before then.'),
      })
      .refine((filter) => Object.values(filter).some((value) => value !== undefined), 'expected a filter'),
    answer: done,
    work: (needs, { taking, body }) => replayDeliveries(needs, taking, body),
  }),
  defineEndpoint({
    name: 'delivery',
    summary: 'One delivery: its content, attempts and their answers',
    route: 'GET /deliveries/{id}',
    params: ofDelivery,
    answer: delivery,
    work: ({ pool, hint }, { params }) => readDelivery(pool, params.id, hint),
  }),
  defineEndpoint({
    name: 'replay-delivery',
    summary: 'Send an ended delivery again',
    route: 'POST /deliveries/{id}/replay',
    params: ofDelivery,
    answer: done,
    work: (needs, { taking, params }) => replayDeliveries(needs, taking, { ids: [params.id] }),
  }),
];
