/** The forms of the pages about deliveries and targets. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DELIVERY_STATES } from '../../mirror/outbox/deliveries.ts';
import { targetPath } from '../../operator/page-paths.ts';
import { dropDeliveries, enableTarget, replayDeliveries, sendTest } from '../actions/delivery-actions.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { readGiven } from '../read-given.ts';
import { onForm, tell } from './forms.ts';

const time = z.iso.datetime().transform((text) => new Date(text));
const asSeen = z.object({ seen: time.optional() });
const replayed = asSeen.extend({
  target: z.string().optional(),
  verdict: z.enum(DELIVERY_STATES).optional(),
  since: time.optional(),
  until: time,
});
const ofDelivery = z.object({ id: z.string() });
const ofTarget = z.object({ target: z.string() });

export function addDeliveryForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  onForm(app, '/deliveries/replay', async ({ taking, given, reply }) => {
    const { seen: seenAt, ...filter } = readGiven(replayed, given);
    await tell(reply, needs, () => replayDeliveries(needs, taking, { ...filter, seenAt }));
    return '/deliveries';
  });
  onForm(app, '/deliveries/:id/replay', async ({ taking, params, request, reply }) => {
    const { id } = readGiven(ofDelivery, params);
    const { seen: seenAt } = readGiven(asSeen, request.query);
    await tell(reply, needs, () => replayDeliveries(needs, taking, { ids: [id], seenAt }));
    return `/deliveries/${encodeURIComponent(id)}`;
  });
  onForm(app, '/targets/:target/enable', async ({ taking, params, reply }) => {
    const { target } = readGiven(ofTarget, params);
    await tell(reply, needs, () => enableTarget(needs, taking, target));
    return targetPath(target);
  });
  onForm(app, '/targets/:target/drop', async ({ taking, params, reply }) => {
    const { target } = readGiven(ofTarget, params);
    await tell(reply, needs, () => dropDeliveries(needs, taking, target));
    return targetPath(target);
  });
  onForm(app, '/targets/:target/test', async ({ taking, params, reply }) => {
    const { target } = readGiven(ofTarget, params);
    await tell(reply, needs, () => sendTest(needs, taking, target));
    return targetPath(target);
  });
}
