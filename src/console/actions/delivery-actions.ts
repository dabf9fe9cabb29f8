/** What people do in the console with deliveries and targets. */
import { plural } from '../../base/counts.ts';
import type { DeliveryFilter } from '../../mirror/outbox/deliveries.ts';
import { enableTargets } from '../../mirror/outbox/target-states.ts';
import { channelIn } from '../../operator/alerts/channels/channel.ts';
import { testChannel } from '../../operator/alerts/test-channel.ts';
import { deliverAgain, dropStranded, readDelivery, replayHow, requireTarget } from '../../operator/deliveries.ts';
import { testTarget } from '../../operator/target-check.ts';
import { channelNamed } from '../../settings/settings.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { type ActionNeeds, byWords, type Done, keeping, type Taking } from './actions.ts';

/** Sends ended deliveries again, and one that waits for its retry if its id is given. @throws LockstepError DELIVERY_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function replayDeliveries(needs: ActionNeeds, taking: Taking, filter: DeliveryFilter): Promise<Done> {
  const { pool, settings, hint } = needs;
  const { ids = [], target, verdict, since, until } = filter;
  const times = [since && `since ${since.toISOString()}`, until && `until ${until.toISOString()}`];
  const about = [...ids, target, verdict, ...times].filter((one) => one !== undefined).join(' ');
  return keeping(needs, taking, 'replay-deliveries', about, async () => {
    for (const id of ids) await readDelivery(pool, id, hint);
    const { again, superseded, enabled } = await deliverAgain(pool, filter, replayHow(settings()));
    if (again + superseded === 0)
      return { said: 'No ended or waiting delivery matches, so nothing is sent again.', refused: 'NOTHING_ENDED' };
    const words = [
      `${plural(again, 'delivery is', 'deliveries are')} due now. A worker sends ${again === 1 ? 'it' : 'them'} at once, ` +
        `or within a minute while ${again === 1 ? 'its' : 'their'} target is failing.`,
    ];
    if (superseded > 0)
      words.push(
        `${plural(superseded, 'old state is', 'old states are')} not sent: the newest state of a task counts.`,
      );
    if (enabled.length > 0) words.push(`Enabled: ${enabled.join(', ')}.`);
    return { said: words.join(' ') };
  });
}

/** @throws LockstepError SETTINGS_NAME_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function enableTarget(needs: ActionNeeds, taking: Taking, target: string): Promise<Done> {
  return keeping(needs, taking, 'enable-target', target, async () => {
    const isChanged = (await enableTargets(needs.pool, [target])).length > 0;
    if (isChanged) return { said: `${target} was enabled: a worker sends what waits for it.` };
    requireTarget(needs.settings(), target);
    return { said: `${target} was not disabled; nothing has changed.`, refused: 'NOT_DISABLED' };
  });
}

/** Ends what waits for a target that has left the settings. @throws LockstepError TARGET_IN_SETTINGS, SETTINGS_NAME_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function dropDeliveries(needs: ActionNeeds, taking: Taking, target: string): Promise<Done> {
  return keeping(needs, taking, 'drop-deliveries', target, async () => {
    const dropped = await dropStranded(needs.pool, needs.settings(), target, byWords(taking));
    if (dropped === 0) return { said: `No delivery waits for ${target}; nothing has changed.`, refused: 'NONE_WAITS' };
    return { said: `${plural(dropped, 'delivery', 'deliveries')} to ${target} ended as skipped.` };
  });
}

/** The time that a receiver has to accept a test message. */
const TEST_MS = 20_000;

/** Sends a test message to a target, or through a channel for alerts. @throws LockstepError SETTINGS_NAME_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function sendTest(
  needs: Pick<ConsoleNeeds, 'pool' | 'settings' | 'readSecret' | 'targets'>,
  taking: Taking,
  name: string,
): Promise<Done> {
  const own = needs.settings().targets[name];
  return keeping(needs, taking, own ? 'test-target' : 'test-channel', name, async () => {
    const signal = AbortSignal.timeout(TEST_MS);
    const { isSent, reason, detail } = own
      ? await testTarget(name, { open: needs.targets.open, signal })
      : await testChannel(channelNamed(needs.settings(), channelIn(name) ?? name), needs, signal);
    if (isSent) return { said: `${name} accepted a test message.` };
    return { said: `${name} did not accept the test message: ${detail ?? reason}`, refused: reason ?? 'NOT_SENT' };
  });
}
