/**
 * Compares the problems that exist with those that were reported, and queues a message for each change. A problem and its
 * messages change in one transaction, so a crash loses no message, and no message is queued twice.
 */
import { type AlertState, queueAlerts } from '../../mirror/outbox/outbox.ts';
import type { AlertEvent, ChannelSettings } from '../../settings/schema-alert.ts';
import { type Queryable, type Stored, withoutNulls } from '../../storage/queryable.ts';
import { outboxName } from './channels/channel.ts';
import { type AlertMessage, alertMessage, type Complete, openedMessage, recoveredMessage } from './message.ts';
import { keyOf, type Problem } from './problem.ts';

/**
 * Shorter problems that may pass by themselves are not reported. A reported problem has recovered when it has been gone for
 * this time: if it returns earlier, it is the same problem, and nothing is sent.
 */
export const PASSING_MS = 5 * 60 * 1000;

/** These recover by a run that ends, not by one that starts. */
const OF_ENDED_RUNS: readonly string[] = [
  'run-failed',
  'needs-review',
  'audit-violation',
  'no-rows',
] satisfies AlertEvent[];

export interface ReportHow {
  readonly channels: Readonly<Record<string, ChannelSettings>>;
  readonly complete: Complete;
  readonly consoleUrl?: string | undefined;
  /** Default: the database's clock. */
  readonly now?: Date | undefined;
}

export interface OpenAlert {
  readonly key: string;
  readonly message: AlertMessage;
  readonly causes: readonly string[];
  readonly since: Date;
  /** Undefined while the problem exists. */
  readonly goneAt: Date | undefined;
  /** Whether its run, which had ended, was opened again and is unfinished. */
  readonly isRunning: boolean;
}

/** The problems that were reported and have not recovered, the oldest first. */
export async function openAlerts(db: Queryable): Promise<readonly OpenAlert[]> {
  const found = await db.query<Stored<OpenAlert>>(
    `select a.key, message, causes, since, gone_at as "goneAt", u.status is not distinct from 'running' as "isRunning"
     from ledger.alerts a left join ledger.runs u on u.id = message->>'run' order by since, key`,
  );
  return found.rows.map((row) => ({ ...withoutNulls<OpenAlert>(row), message: alertMessage.parse(row.message) }));
}

/** Must be called in a transaction in which no other process does the same. */
export async function reportChanges(db: Queryable, problems: readonly Problem[], how: ReportHow): Promise<void> {
  const now = how.now ?? (await timeOf(db));
  const open = new Map((await openAlerts(db)).map((alert) => [alert.key, alert]));
  const present = new Map(problems.map((problem) => [keyOf(problem), problem]));
  for (const [key, problem] of present) await report(db, problem, open.get(key), now, how);
  for (const [key, alert] of open) if (!present.has(key)) await recover(db, alert, now, how);
}

/** Sends a message for each new cause of a problem. The alert is that of the newest run that has the problem. */
async function report(
  db: Queryable,
  problem: Problem,
  alert: OpenAlert | undefined,
  now: Date,
  how: ReportHow,
): Promise<void> {
  const since = alert?.since ?? problem.since ?? now;
  if (alert === undefined && problem.isPassing && now.getTime() - since.getTime() < PASSING_MS) return;
  const causes = alert?.causes ?? [];
  const isNew = !causes.includes(problem.cause);
  if (!isNew && alert?.goneAt === undefined && alert?.message.run === problem.run) return;
  const key = keyOf(problem);
  const message = await openedMessage(problem, since, how.complete, how.consoleUrl);
  await keepOpen(db, { key, message, causes: isNew ? [...causes, problem.cause] : causes, since });
  if (isNew) await queue(db, key, message, how);
}

async function recover(db: Queryable, alert: OpenAlert, now: Date, how: ReportHow): Promise<void> {
  const { key, goneAt, message, isRunning } = alert;
  if (isRunning && OF_ENDED_RUNS.includes(message.event)) return;
  if (goneAt === undefined) {
    await db.query('update ledger.alerts set gone_at = $2 where key = $1', [key, now]);
  } else if (goneAt > now || now.getTime() - goneAt.getTime() >= PASSING_MS) {
    await db.query('delete from ledger.alerts where key = $1', [key]);
    await queue(db, key, recoveredMessage(message, goneAt), how);
  }
}

async function timeOf(db: Queryable): Promise<Date> {
  const read = await db.query<{ now: Date }>('select clock_timestamp() as now');
  return read.rows[0]?.now ?? new Date();
}

async function keepOpen(
  db: Queryable,
  { key, message, causes, since }: Omit<OpenAlert, 'goneAt' | 'isRunning'>,
): Promise<void> {
  await db.query(
    `insert into ledger.alerts (key, message, causes, since) values ($1, $2, $3, $4)
     on conflict (key) do update set message = excluded.message, causes = excluded.causes, gone_at = null`,
    [key, message, causes, since],
  );
}

async function queue(
  db: Queryable,
  key: string,
  message: AlertMessage,
  { channels }: Pick<ReportHow, 'channels'>,
): Promise<void> {
  const targets = Object.values(channels)
    .filter((channel) => wants(channel, message))
    .map(({ name }) => outboxName(name));
  if (targets.length === 0) return;
  const numbered = await db.query<{ n: number }>(`select nextval('ledger.alert_messages')::int as n`);
  const sequence = numbered.rows[0]?.n ?? 0;
  const event: AlertState = message.state === 'recovered' ? 'recovered' : 'opened';
  await queueAlerts(
    db,
    targets.map((target) => ({ target, key, sync: message.sync ?? '', sequence, event, message })),
  );
}

/** A channel does not report that it fails itself. */
function wants({ name, events, syncs }: ChannelSettings, { event, sync, target }: AlertMessage): boolean {
  if (target === outboxName(name)) return false;
  if (events !== undefined && !events.includes(event as AlertEvent)) return false; // a test is never queued
  return syncs === undefined || (sync !== undefined && syncs.includes(sync));
}
