/** `lockstep deliveries …`: lists, shows, replays and drops deliveries to outside systems. */
import { plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { remedyFor } from '../../base/reasons/reasons.ts';
import {
  DELIVERY_STATES,
  type DeliveryFilter,
  type FailedAttempt,
  type ListedDelivery,
  listDeliveries,
} from '../../mirror/outbox/deliveries.ts';
import { planReplay } from '../../mirror/outbox/replay.ts';
import { enableTargets, type TargetState, targetStates } from '../../mirror/outbox/target-states.ts';
import {
  answerWords,
  attemptsWords,
  deliverAgain,
  dropStranded,
  type Hold,
  hasFailedLast,
  planDrop,
  planWords,
  readDelivery,
  replayHow,
  requireTarget,
  statusOf,
  strandedDeliveries,
  strandedWords,
  targetHolds,
  unserved,
  workerWords,
} from '../../operator/deliveries.ts';
import { formatTime } from '../../operator/format.ts';
import { quote } from '../../settings/message-parts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { commaSeparated, toTime, wholeNumber } from './arguments.ts';

const DEFAULT_LIMIT = 20;

interface FilterOptions {
  readonly target?: string;
  readonly verdict?: DeliveryFilter['verdict'];
  readonly since?: Date;
  readonly until?: Date;
}

export function define(deliveries: Command, perform: Perform): void {
  deliveries
    .description(
      'Lists the newest deliveries: each is one change of a task on its way to one target, or one alert on its way to one ' +
        'channel (alerts.NAME). A worker (lockstep start) sends ' +
        'them, in order per task, and retries a failed delivery for about three days. Then it becomes a dead letter, which ' +
        'you can replay. A newer state of a task supersedes an older one that still waits.',
    )
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .examples(`
  $ lockstep deliveries --verdict dead --since 24h
  $ lockstep deliveries show msg_4Zb0hTnV2m0b5mJt1gq0XxKp
  $ lockstep deliveries replay --target ops-hook --verdict dead
  $ lockstep deliveries enable ops-hook
  $ lockstep deliveries drop former-hook`)
    .action(perform(list));
  withFilters(deliveries);
  addShow(deliveries, perform);
  addReplay(deliveries, perform);
  addEnable(deliveries, perform);
  addDrop(deliveries, perform);
}

function withFilters(command: Command): Command {
  return command
    .option('--target <name>', 'only deliveries to this target')
    .choice('--verdict <verdict>', 'only deliveries with this verdict, or those that wait', DELIVERY_STATES)
    .option('--since <time>', 'queued since this time: 2026-11-21, 2026-11-21T02:00Z, or 2h for two hours ago', toTime)
    .option('--until <time>', 'queued before this time', toTime);
}

function addShow(deliveries: Command, perform: Perform): void {
  deliveries
    .command('show')
    .summary('show one delivery')
    .description('Shows a delivery: its content, its attempts, the result, and the last answer.')
    .argument('<delivery>', 'id of the delivery, such as msg_4Zb0hTnV2m0b5mJt1gq0XxKp')
    .action(perform(show));
}

function addReplay(deliveries: Command, perform: Perform): void {
  const command = deliveries
    .command('replay')
    .summary('send deliveries again')
    .description(
      'Queues ended deliveries again, under the same ids, due now and with 0 attempts, and enables a disabled target. A ' +
        'delivery that waits for its retry is sent now if you select it by --id or --verdict waiting. At least one filter is needed. Superseded deliveries are left out unless you select them by --id or --verdict ' +
        'superseded. No target is reset to an old state. If you do not select the newest delivery of a task, its older ones ' +
        'end as superseded. If you select it, only targets that receive events, such as a webhook or a chat, receive the older ones before it.',
    )
    .option('--id <ids>', 'these deliveries, separated by commas', commaSeparated)
    .option('--dry-run', 'print how many deliveries would be sent, and change nothing');
  withFilters(command)
    .examples(`
  $ lockstep deliveries replay --target ops-hook --verdict dead --dry-run
  $ lockstep deliveries replay --target ops-hook --verdict waiting
  $ lockstep deliveries replay --target ops-hook --since 2026-11-20 --until 2026-11-21`)
    .action(perform(replayThem));
}

interface ReplayOptions extends FilterOptions {
  readonly id?: readonly string[];
  readonly dryRun?: boolean;
}

function addEnable(deliveries: Command, perform: Perform): void {
  deliveries
    .command('enable')
    .summary('enable a disabled target')
    .description(
      'Enables a target that was disabled because it refused deliveries. Deliveries that waited for the target are sent; none is lost.',
    )
    .argument('<target>', 'name of the target in the settings')
    .action(perform(enable));
}

function addDrop(deliveries: Command, perform: Perform): void {
  deliveries
    .command('drop')
    .summary('end what waits for a target that was removed from the settings')
    .description(
      'Ends the deliveries that wait for a target that is no longer in the settings, as skipped (DROPPED). Each keeps who ' +
        'dropped it. If the target comes back, `deliveries replay --target NAME --verdict skipped` sends them.',
    )
    .argument('<target>', 'name that the target had in the settings')
    .option('--dry-run', 'print how many deliveries would end, and change nothing')
    .action(perform(drop));
}

async function list(session: Session, { limit, ...options }: FilterOptions & { limit: number }): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const filter = await toFilter(session, pool, options);
  const deliveries = await listDeliveries(pool, filter, limit);
  const states = await targetStates(pool);
  const titles = ['DELIVERY', 'TARGET', 'TASK', 'EVENT', 'QUEUED', 'TRIED', 'STATUS'];
  const settings = await session.settings();
  const holdOf = await targetHolds(pool, settings);
  const rows = deliveries.map((delivery) => toLine(delivery, holdOf(delivery.target)));
  out.table(titles, rows, { right: [5], none: 'No deliveries found.' });
  const stranded = await strandedDeliveries(pool, settings);
  const present = states.filter(({ target }) => holdOf(target) !== 'not in the settings');
  out.say(
    ...present.flatMap((state) => stateLines(state, hint)),
    ...stranded.map(
      (counts) =>
        `${counts.target} is not in the settings: ${strandedWords(counts)} with: ${hint(`deliveries drop ${counts.target}`)}`,
    ),
    ...workerLines(session, unserved(deliveries, holdOf)),
  );
  out.result({ deliveries, targets: states });
}

function toLine(delivery: ListedDelivery, hold: Hold | undefined): readonly string[] {
  const { id, target, source, sequence, event, createdAt, attempts } = delivery;
  return [
    id,
    target,
    `${source} #${sequence}`,
    event,
    formatTime(createdAt),
    String(attempts),
    statusOf(delivery, hold),
  ];
}

function workerLines({ hint }: Session, targets: readonly string[]): readonly string[] {
  return targets.length === 0 ? [] : [`${workerWords(targets)} ${hint('start')}`];
}

function stateLines(
  { target, disabled, blockedUntil, failing }: TargetState,
  hint: Session['hint'],
): readonly string[] {
  const lines: string[] = [];
  if (disabled) {
    const { at, reason, detail } = disabled;
    const remedy = hint(`deliveries enable ${target}`);
    lines.push(
      `${target} has been disabled since ${formatTime(at)} (${reason}: ${detail}). Fix the cause, then enable the target with: ${remedy}`,
    );
  }
  if (blockedUntil) lines.push(`${target} is paused: nothing is sent to it until ${formatTime(blockedUntil)}.`);
  if (failing) lines.push(`${target} has been failing since ${formatTime(failing.since)}: ${failing.detail}`);
  return lines;
}

async function show(session: Session, id: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const delivery = await readDelivery(pool, id, hint);
  const { target, source, event, sequence, account, sync, run, task, answer, detail, failures } = delivery;
  const holdOf = await targetHolds(pool, await session.settings());
  const origin = account === '' ? 'Alert, ' : `Account ${account}, sync ${sync}, `;
  out.say(
    `Delivery ${id} to ${target}: ${source} ${quote(task.title)}, ${event}, sequence ${sequence}.`,
    `${origin}seen ${formatTime(delivery.seenAt)}${run === null ? '' : ` by run ${run}`}.`,
    `It is ${statusOf(delivery, holdOf(target))}, ${attemptsWords(delivery)}${detail === null ? '.' : `: ${detail}`}`,
  );
  for (const failure of failures) out.say(`  ${formatTime(new Date(failure.at))} ${failureWords(failure)}`);
  if (answer && !hasFailedLast(delivery)) out.say(`Last answer: ${answerWords(answer)}`);
  const remedy = remedyFor(delivery.reason, { target, delivery: id }, { command: hint, about: { account } });
  if (remedy !== undefined) out.say(`Fix: ${remedy}`);
  out.say(...workerLines(session, unserved([delivery], holdOf)));
  out.say('', JSON.stringify(task, undefined, 2));
  out.result(delivery);
}

function failureWords({ reason, detail, answer }: FailedAttempt): string {
  const said = [reason, detail, answer && `answer ${answerWords(answer)}`];
  return said.filter((part) => part !== undefined).join(': ');
}

async function replayThem(session: Session, { id, dryRun = false, ...options }: ReplayOptions): Promise<void> {
  const { out, hint } = session;
  if (id === undefined && Object.keys(options).length === 0) {
    throw wrongUse('No filter is given: select deliveries by --id, or by --target, --verdict, --since or --until');
  }
  const { pool } = await session.openLedger();
  const filter: DeliveryFilter = { ...(await toFilter(session, pool, options)), ids: id };
  for (const one of id ?? []) await readDelivery(pool, one, hint);
  const how = replayHow(await session.settings());
  const { enabled, ...replayed } = dryRun
    ? { ...(await planReplay(pool, filter, how)), enabled: [] }
    : await deliverAgain(pool, filter, how);
  out.say(planWords(replayed));
  if (enabled.length > 0) out.say(`Enabled: ${enabled.join(', ')}.`);
  if (replayed.again > 0 && !dryRun) out.say(`A worker sends them: ${hint('start')}`);
  out.result({ dryRun, ...replayed, enabled });
}

async function enable(session: Session, target: string): Promise<void> {
  requireTarget(await session.settings(), target);
  const { pool } = await session.openLedger();
  const isChanged = (await enableTargets(pool, [target])).length > 0;
  const { out, hint } = session;
  out.say(
    isChanged
      ? `${target} is enabled. A worker sends what waits for it: ${hint('start')}`
      : `${target} was not disabled; nothing has changed.`,
  );
  out.result({ target, enabled: isChanged });
}

async function drop(
  session: Session,
  target: string,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<void> {
  const { out } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const dropped = dryRun
    ? await planDrop(pool, settings, target)
    : await dropStranded(pool, settings, target, thisPerson());
  const deliveries = plural(dropped, 'delivery', 'deliveries');
  out.say(dryRun ? `${deliveries} to ${target} would end as skipped.` : `${deliveries} to ${target} ended as skipped.`);
  out.result({ target, dryRun, dropped });
}

/** @throws LockstepError if the target is in neither the settings nor the ledger, or --since is not before --until */
async function toFilter(session: Session, db: Queryable, options: FilterOptions): Promise<DeliveryFilter> {
  const { target, verdict, since, until } = options;
  if (since && until && since >= until) throw wrongUse('--since must be before --until');
  const settings = await session.settings();
  // A target that was removed from the settings may still have deliveries.
  if (target !== undefined && settings.targets[target] === undefined) {
    if ((await listDeliveries(db, { target }, 1)).length === 0) requireTarget(settings, target);
  }
  return { target, verdict, since, until };
}
