/** The problems of targets, and of the channels of alerts, that exist now. */
import { plural } from '../base/counts.ts';
import type { DeliveryCounts } from '../mirror/outbox/deliveries.ts';
import type { TargetState } from '../mirror/outbox/target-states.ts';
import { deliveryFailure, type Undelivered, undelivered } from '../mirror/outbox/undelivered.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type ChannelState, channelStates } from './alerts/channel-states.ts';
import { outboxName } from './alerts/channels/channel.ts';
import { lasting, type Problem } from './alerts/problem.ts';
import { outboxNames, strandedDeliveries, strandedWords } from './deliveries.ts';

/** By name; those of channels come last. Reads at the same time, so `db` is no single connection. */
export async function targetProblems(
  db: Queryable,
  settings: Settings,
  states: readonly TargetState[],
): Promise<readonly Problem[]> {
  const [left, stranded, channels] = await Promise.all([
    undelivered(db, Object.keys(settings.targets)),
    strandedDeliveries(db, settings),
    channelStates(db, Object.keys(settings.alerts).map(outboxName)),
  ]);
  const known = outboxNames(settings);
  const present = states.filter(({ target }) => known.includes(target));
  const names = new Set([...present, ...left, ...stranded].map(({ target }) => target));
  const reported = [...names].sort().flatMap((name) => {
    const of = <T extends { readonly target: string }>(all: readonly T[]) => all.find(({ target }) => target === name);
    const counts = of(stranded);
    return counts === undefined ? ofTarget(name, of(present), of(left)) : [ofStranded(counts)];
  });
  const stopped = new Set(reported.map(({ target }) => target));
  return [...reported, ...channels.filter(({ target }) => !stopped.has(target)).flatMap(ofChannel)];
}

function ofTarget(
  target: string,
  { disabled, failing }: Partial<TargetState> = {},
  { retried, dead }: Partial<Undelivered> = {},
): readonly Problem[] {
  const what = `target ${target}`;
  const about = { subject: what, what, target };
  const failure = deliveryFailure(failing, retried);
  const problems: Problem[] = [];
  if (disabled) {
    const { reason: cause, detail, at: since } = disabled;
    const command = `deliveries enable ${target}`;
    problems.push(lasting({ ...about, event: 'target-disabled', why: `disabled: ${detail}`, since, cause, command }));
  } else if (failure) {
    const { since, detail } = failure;
    const command = `deliveries --target ${target}`;
    const next = retried && `${plural(retried.count, 'delivery', 'deliveries')} failed and will be retried`;
    const why = [`${failing ? 'failing' : 'retrying'}: ${detail}`, ...(next ? [next] : [])].join('; ');
    problems.push({ ...about, event: 'target-failing', why, since, cause: 'FAILING', command, isPassing: true });
  }
  if (dead) {
    const { count, since, detail } = dead;
    const command = `deliveries --target ${target} --verdict dead`;
    const why = `${plural(count, 'dead letter')}, which will not be retried: ${detail}`;
    const key = `${what} dead`;
    problems.push(lasting({ ...about, key, event: 'target-failing', why, since, cause: 'DEAD', command }));
  }
  return problems;
}

/** It may be on its way into the settings of this process. */
function ofStranded(counts: DeliveryCounts): Problem {
  const { target } = counts;
  const what = `target ${target}`;
  const about = { subject: what, what, target, since: undefined, cause: 'NOT_IN_SETTINGS' };
  const why = `not in the settings: ${strandedWords(counts)}`;
  return { ...about, event: 'target-failing', why, command: `deliveries drop ${target} --dry-run`, isPassing: true };
}

/** A channel has few messages, so each that it does not accept counts. */
function ofChannel({ target, refused }: ChannelState): readonly Problem[] {
  if (refused === null) return [];
  const { isDead, detail, since } = refused;
  const what = `target ${target}`;
  const command = `deliveries --target ${target}`;
  const why = isDead ? `its newest alert is a dead letter: ${detail}` : `its newest alert is not sent yet: ${detail}`;
  const cause = isDead ? 'DEAD' : 'FAILING';
  return [{ event: 'target-failing', subject: what, what, target, why, since, cause, command, isPassing: !isDead }];
}
