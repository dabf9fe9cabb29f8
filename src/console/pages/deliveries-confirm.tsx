/** Asks before deliveries are sent again: those that a filter selects. */
import { withOptions } from '../../base/reasons/template.ts';
import { planReplay } from '../../mirror/outbox/replay.ts';
import { planWords, replayHow } from '../../operator/deliveries.ts';
import { requireOperator } from '../access/guard.ts';
import { deliveryQuery, toDeliveryFilter } from '../api/filters.ts';
import { definePage } from '../page.ts';
import { Button, Hidden, Submit } from '../parts/inputs.tsx';
import { addressOf } from '../parts/parts.tsx';

export const deliveriesConfirm = definePage({
  path: '/deliveries/confirm',
  query: deliveryQuery,
  async show({ pool, settings, person }, { query }) {
    requireOperator(person);
    const now = new Date();
    const { target, verdict, since, until = now } = toDeliveryFilter(query);
    const plan = await planReplay(pool, { target, verdict, since, until }, replayHow(settings));
    const isWaiting = verdict === 'waiting';
    const fields = { target, verdict, since: since?.toISOString(), until: until.toISOString() };
    return {
      title: isWaiting ? 'Try now' : 'Send again',
      tab: 'deliveries',
      command: withOptions('deliveries replay', fields),
      head: (
        <>
          <h1>{isWaiting ? 'Try them now?' : 'Send again?'}</h1>
          <p>{planWords(plan)}</p>
          <p class="dim">
            They keep their ids, and each has all its attempts again. Their targets are enabled if they are disabled.{' '}
            {!isWaiting &&
              'No target is reset to an old state: older states of a task are sent only before the newest one, and only to a target that receives events, such as a webhook or a chat.'}
          </p>
          <form class="acts" method="post" action="/deliveries/replay">
            <Hidden values={{ ...fields, seen: now.toISOString() }} />
            {plan.again + plan.superseded > 0 && <Submit label={isWaiting ? 'Try now' : 'Send again'} primary />}
            <Button to={addressOf('/deliveries', query)} label="Back" />
          </form>
        </>
      ),
      body: null,
    };
  },
});
