/** The forms of the pages about deliveries. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DELIVERY_VERDICTS } from '../mirror/outbox/list.ts';
import { plainText } from './api/review-query.ts';
import { enableTarget, replayDeliveries } from './delivery-actions.ts';
import { formOf, tell } from './forms.ts';
import { requirePerson } from './guard.ts';
import type { ConsoleNeeds } from './needs.ts';

const time = z.iso.datetime().transform((text) => new Date(text));
const replayed = z.object({
  target: plainText.optional(),
  verdict: z.enum(DELIVERY_VERDICTS).optional(),
  since: time.optional(),
  until: time,
});

export function addDeliveryForms(app: FastifyInstance, needs: ConsoleNeeds): void {
  app.post('/deliveries/replay', async (request, reply) => {
    const person = requirePerson(request);
    const filter = replayed.parse(Object.fromEntries(formOf(request)));
    await tell(reply, needs, () => replayDeliveries(needs, { person, via: 'page' }, filter));
    return reply.redirect('/deliveries', 303);
  });
  app.post('/deliveries/:id/replay', async (request, reply) => {
    const person = requirePerson(request);
    const { id } = z.object({ id: plainText }).parse(request.params);
    await tell(reply, needs, () => replayDeliveries(needs, { person, via: 'page' }, { ids: [id] }));
    return reply.redirect(`/deliveries/${encodeURIComponent(id)}`, 303);
  });
  app.post('/targets/:target/enable', async (request, reply) => {
    const person = requirePerson(request);
    const { target } = z.object({ target: plainText }).parse(request.params);
    await tell(reply, needs, () => enableTarget(needs, { person, via: 'page' }, target));
    return reply.redirect('/deliveries', 303);
  });
}
