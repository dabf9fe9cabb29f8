/** What an operator reads about deliveries, and how deliveries are sent again or dropped. */
import { plural } from '../base/counts.ts';
import { wrongUse } from '../base/errors.ts';
import type { TargetAnswer } from '../contract/target.ts';
import {
  countDeliveries,
  type DeliveryCounts,
  type DeliveryFilter,
  type ListedDelivery,
  listDeliveries,
  type ShownDelivery,
  showDelivery,
} from '../mirror/outbox/deliveries.ts';
import { countIdle, dropIdle } from '../mirror/outbox/drop.ts';
import { type Replayed, type ReplayHow, replay } from '../mirror/outbox/replay.ts';
import { disabledTargets, enableTargets, servedTargets } from '../mirror/outbox/target-states.ts';
import { quote } from '../settings/message-parts.ts';
import { holds } from '../settings/schema-target.ts';
import { channelNamed, type Settings, targetNamed } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type Transactional, together } from '../storage/transaction.ts';
import { channelIn, outboxName } from './alerts/channels/channel.ts';
import { formatTime } from './format.ts';

/** @throws LockstepError DELIVERY_UNKNOWN */
export async function readDelivery(
  db: Queryable,
  id: string,
  hint: (command: string) => string,
): Promise<ShownDelivery> {
  const delivery = await showDelivery(db, id);
  if (delivery) return delivery;
  const message = `There is no delivery ${quote(id)}. List all with: ${hint('deliveries')}`;
  throw wrongUse(message, 'DELIVERY_UNKNOWN');
}

/** The names in the outbox of all targets and channels for alerts. */
export function outboxNames({ targets, alerts }: Settings): readonly string[] {
  return [...Object.keys(targets), ...Object.keys(alerts).map(outboxName)];
}

/** Of each of these, and of any other that has deliveries. */
export async function countOutbox(db: Queryable, settings: Settings): Promise<readonly DeliveryCounts[]> {
  const counts = new Map((await countDeliveries(db)).map((counted) => [counted.target, counted]));
  const names = new Set([...outboxNames(settings), ...counts.keys()]);
  return [...names].map((target) => counts.get(target) ?? { target, open: 0, dead: 0 });
}

/** Channels receive events too. */
export function replayHow({ targets, alerts }: Settings): ReplayHow {
  const named = (what: 'events' | 'versions') =>
    Object.values(targets).flatMap((target) => (holds(target) === what ? [target.name] : []));
  return { events: [...named('events'), ...Object.keys(alerts).map(outboxName)], versions: named('versions') };
}

/** Makes ended deliveries wait again and enables their targets, both or neither. */
export function deliverAgain(
  db: Transactional,
  filter: DeliveryFilter,
  how: ReplayHow,
): Promise<Replayed & { readonly enabled: readonly string[] }> {
  return together(db, async (one) => {
    const replayed = await replay(one, filter, how);
    return { ...replayed, enabled: await enableTargets(one, replayed.targets) };
  });
}

/** `2 deliveries to ops-hook to send again`. */
export function planWords({ again, superseded, targets }: Replayed): string {
  const where = targets.length === 0 ? '' : ` to ${targets.join(', ')}`;
  const old =
    superseded === 0 ? '' : `; ${plural(superseded, 'old state')} ${superseded === 1 ? 'is' : 'are'} not sent`;
  return `${plural(again, 'delivery', 'deliveries')}${where} to send again${old}.`;
}

/** @throws LockstepError SETTINGS_NAME_UNKNOWN if it is neither a target nor a channel for alerts */
export function requireTarget(settings: Settings, name: string): void {
  const channel = channelIn(name);
  if (channel === undefined) targetNamed(settings, name);
  else channelNamed(settings, channel);
}

type Status = Pick<ListedDelivery, 'state' | 'verdict' | 'reason' | 'dueAt' | 'heldBy'>;

/** Why the deliveries of a target wait, whatever their next try is. */
export type Hold = 'disabled' | 'not in the settings' | 'without a worker';

/** What holds each target. One that left the settings has to come back first, even if it was disabled. */
export async function targetHolds(db: Queryable, settings: Settings): Promise<(target: string) => Hold | undefined> {
  const [disabled, served] = [await disabledTargets(db), await servedTargets(db)];
  const known = new Set(outboxNames(settings));
  return (target) => {
    if (!known.has(target)) return 'not in the settings';
    if (disabled.has(target)) return 'disabled';
    return served.has(target) ? undefined : 'without a worker';
  };
}

/** The targets of those that wait for a worker. */
export function unserved(
  deliveries: readonly Pick<ListedDelivery, 'target' | 'state'>[],
  holdOf: (target: string) => Hold | undefined,
): readonly string[] {
  const targets = deliveries.flatMap(({ target, state }) => (state === 'waiting' ? [target] : []));
  return [...new Set(targets)].filter((target) => holdOf(target) === 'without a worker');
}

/** `No worker sends to ops-hook. Start one with:`, and then the command. */
export function workerWords(targets: readonly string[]): string {
  return `No worker sends to ${targets.join(', ')}. Start one with:`;
}

/** Whether deliveries wait that no process with these settings sends. */
export function isStranded({ target, open }: DeliveryCounts, settings: Settings): boolean {
  return open > 0 && !outboxNames(settings).includes(target);
}

export async function strandedDeliveries(db: Queryable, settings: Settings): Promise<readonly DeliveryCounts[]> {
  return (await countDeliveries(db)).filter((counts) => isStranded(counts, settings));
}

/** `2 deliveries wait until the settings have the target again, or a person drops them`. */
export function strandedWords({ open }: DeliveryCounts): string {
  const [wait, them] = open === 1 ? ['waits', 'it'] : ['wait', 'them'];
  return `${plural(open, 'delivery', 'deliveries')} ${wait} until the settings have the target again, or a person drops ${them}`;
}

/** Ends what waits for a target that has left the settings; returns how many deliveries. @throws as `planDrop` */
export async function dropStranded(db: Queryable, settings: Settings, target: string, by: string): Promise<number> {
  await requireLeft(db, settings, target);
  return dropIdle(db, target, `dropped by ${by}, because the settings did not have the target`);
}

/** How many would be ended. @throws LockstepError TARGET_IN_SETTINGS, NOTHING_TO_DROP */
export async function planDrop(db: Queryable, settings: Settings, target: string): Promise<number> {
  await requireLeft(db, settings, target);
  return countIdle(db, target);
}

async function requireLeft(db: Queryable, settings: Settings, target: string): Promise<void> {
  if (outboxNames(settings).includes(target)) {
    const message = `The settings have ${quote(target)}, so its deliveries are sent: remove it there before you drop them`;
    throw wrongUse(message, 'TARGET_IN_SETTINGS');
  }
  if ((await listDeliveries(db, { target }, 1)).length > 0) return;
  const waiting = (await strandedDeliveries(db, settings)).map((counts) => counts.target);
  const known = waiting.length === 0 ? '' : `. Those that you can drop wait for ${waiting.join(', ')}`;
  throw wrongUse(`There are no deliveries for a target ${quote(target)}${known}`, 'NOTHING_TO_DROP');
}

/** Such as `waiting, next try 2026-11-21 02:00:05`; times in the time of this machine. */
export function statusOf({ state, verdict, reason, dueAt, heldBy }: Status, hold: Hold | undefined): string {
  const why = reason === null || reason === verdict?.toUpperCase() ? '' : ` (${reason})`;
  if (verdict !== null) return `${verdict}${why}`;
  if (state !== 'waiting') return state;
  if (dueAt === null) return `waiting for ${heldBy}, which is being sent`;
  if (hold === 'without a worker') return `waiting for a worker${why}`;
  if (hold !== undefined) return `waiting: the target is ${hold}`;
  const isDue = dueAt.getTime() <= Date.now();
  const next = isDue ? `due since ${formatTime(dueAt)}` : `next try ${formatTime(dueAt)}`;
  return heldBy === null ? `waiting, ${next}${why}` : `waiting for ${heldBy}, ${next}`;
}

/** `after 2 attempts`. A replay begins again with none, and keeps those of before. */
export function attemptsWords({ attempts, failures }: Pick<ShownDelivery, 'attempts' | 'failures'>): string {
  const isReplayed = attempts === 0 && failures.length > 0;
  return isReplayed ? 'not tried since it was queued again' : `after ${plural(attempts, 'attempt')}`;
}

/** Whether the last attempt is one of `failures`, with its answer. */
export function hasFailedLast({ failures, verdict }: Pick<ShownDelivery, 'failures' | 'verdict'>): boolean {
  return failures.length > 0 && (verdict === null || verdict === 'dead');
}

/** `HTTP 503 try again later`. */
export function answerWords({ httpStatus, text }: TargetAnswer): string {
  const status = httpStatus === undefined ? undefined : `HTTP ${httpStatus}`;
  return [status, text].filter((part) => part !== undefined).join(' ');
}
