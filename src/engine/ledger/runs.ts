/** Runs: what they are; starting and reading them; their progress. run-status.ts ends, pauses and resumes them. */
import { randomBytes } from 'node:crypto';
import { type LockstepError, wrongUse } from '../../base/errors.ts';
import type { Lane } from '../../client/budget/budget.ts';
import { type Queryable, type Stored, withoutNulls } from '../../storage/queryable.ts';

export const RUN_STATUSES = ['running', 'paused', 'done', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export type ScanProof = 'proven' | 'weak' | 'unproven';

/** The error code of a paused run that waits until a person approves what it would write. */
export const AWAITS_CONFIRMATION = 'AWAITS_CONFIRMATION';

/** It is worked on, or may be resumed. */
export function isUnfinished({ status }: Pick<Run, 'status'>): boolean {
  return status === 'running' || status === 'paused';
}

export interface Run {
  readonly id: string;
  readonly sync: string;
  /** What it does: the type of a sync in the settings (`contacts`, `orders`, `tasks`), `customers` for a load, or `audit`. */
  readonly type: string;
  /** The account's name in the settings. */
  readonly account: string;
  /** The tenant of the account when the run began; the ledger's knowledge belongs to it. */
  readonly scope: string;
  readonly resource: string;
  readonly lane: Lane;
  readonly dryRun: boolean;
  /** The run that this one works for: they are cancelled and resumed together. */
  readonly partOf: string | undefined;
  /** The name shown to people: its sync's name in the settings, or the file it loads. */
  readonly title: string;
  /** The options the run was started with, as the schema of its jobs parsed them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly status: RunStatus;
  /** The job that runs next; undefined once the run has ended. */
  readonly phase: string | undefined;
  readonly checkpoint: Readonly<Record<string, unknown>>;
  /** Notes for the operator about the run. */
  readonly notes: readonly string[];
  /** The lists for which it has waited until they must show a record that may have been new. */
  readonly listsAwaited: readonly string[];
  readonly scan: ScanProof | undefined;
  /** What the filter of the sync or of the load left out; undefined if it has none. It is no row. */
  readonly leftOut: LeftOut | undefined;
  readonly rowsSeen: number;
  readonly rowsSettled: number;
  /** Rows by verdict, saved when the run ended. */
  readonly counts: Readonly<Record<string, number>> | undefined;
  /** Rows that were deleted because of their age; they are still counted. */
  readonly rowsPruned: number;
  readonly calls: number;
  /** It has made more calls than these: of killed processes, and of reads that got no answer. */
  readonly callsMissed: boolean;
  readonly limited: number;
  /** A person has acknowledged what is wrong with it, since it ended. */
  readonly isAcknowledged: boolean;
  readonly errorCode: string | undefined;
  readonly error: string | undefined;
  readonly failingSince: Date | undefined;
  readonly createdAt: Date;
  readonly endedAt: Date | undefined;
  /** When a process last noted that it works on the run; undefined if none has. */
  readonly attendedAt: Date | undefined;
  /** How long no process worked on the run, until `attendedAt`. */
  readonly idleMs: number;
  /** It writes only what a person has seen: what was approved, or a plan (approval.ts). */
  readonly isBound: boolean;
  /** Names what it has shown last for an approval: another plan has another name. */
  readonly planId: string | undefined;
}

export type LeftOut = ContactsLeftOut | { readonly orders: number };

export interface ContactsLeftOut {
  readonly contacts: number;
  /** Of these, how many are linked with a customer, which the run leaves unchanged. */
  readonly linked: number;
}

type Named = 'sync' | 'type' | 'account' | 'resource' | 'lane' | 'dryRun' | 'options';

export interface NewRun extends Pick<Run, Named> {
  readonly phase: string;
  /** Default: the account's name, which is its first scope. */
  readonly scope?: string;
  readonly partOf?: string;
  /** Default: `sync`. */
  readonly title?: string;
}

/** The column of the type has the name that settings once gave it. */
const COLUMNS = `id, sync, job as type, account, scope, resource, lane, dry_run as "dryRun", part_of as "partOf", coalesce(title, sync) as title, options, status, phase, checkpoint, notes, lists_awaited as "listsAwaited", scan,
  left_out as "leftOut", rows_seen as "rowsSeen", rows_settled as "rowsSettled", counts, (select coalesce(sum(value::bigint), 0)::float8 from jsonb_each_text(pruned)) as "rowsPruned", calls, calls_missed as "callsMissed", limited, error_code as "errorCode", error,
  trouble_since as "failingSince", created_at as "createdAt", ended_at as "endedAt",
  attended_at as "attendedAt", idle_ms as "idleMs", is_bound as "isBound", plan_id as "planId",
  acknowledged_revision is not distinct from revision as "isAcknowledged"`;

/**
 * Starts a run, or returns the unfinished run that blocks it: of the same sync, or writing the same resource of the same
 * scope. A dry run writes nothing and blocks no other run.
 */
export async function startRun(
  db: Queryable,
  run: NewRun,
): Promise<{ status: 'started'; run: Run } | { status: 'busy'; run: Run }> {
  const { sync, type, account, resource, lane, dryRun, options, phase, partOf, title, scope = account } = run;
  for (;;) {
    const started = await db.query<Stored<Run>>(
      `insert into ledger.runs (id, sync, job, account, resource, lane, dry_run, options, status, phase, part_of,
         title, scope)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, $10, $11, $12) on conflict do nothing returning ${COLUMNS}`,
      [newRunId(), sync, type, account, resource, lane, dryRun, options, phase, partOf, title, scope],
    );
    if (started.rows[0]) return { status: 'started', run: withoutNulls(started.rows[0]) };
    const busy = await db.query<Stored<Run>>(
      `select ${COLUMNS} from ledger.runs
       where status in ('running', 'paused') and not dry_run and (sync = $1 or (scope = $2 and resource = $3)) limit 1`,
      [sync, scope, resource],
    );
    if (busy.rows[0]) return { status: 'busy', run: withoutNulls(busy.rows[0]) }; // otherwise that run ended in between: try again
  }
}

/** @throws LockstepError RUN_UNKNOWN */
export async function readRun(db: Queryable, id: string): Promise<Run> {
  const found = await db.query<Stored<Run>>(`select ${COLUMNS} from ledger.runs where id = $1`, [id]);
  if (!found.rows[0]) throw runUnknown(id);
  return withoutNulls(found.rows[0]);
}

export function runUnknown(id: string): LockstepError {
  const message = `There is no run "${id}". List the runs with: \`lockstep runs\``;
  return wrongUse(message, 'RUN_UNKNOWN');
}

export function runningRuns(db: Queryable): Promise<readonly Run[]> {
  return runsWhere(db, `status = 'running'`);
}

/** Runs that fulfil an SQL condition, the oldest first. */
export async function runsWhere(db: Queryable, condition: string, values: readonly unknown[] = []): Promise<Run[]> {
  const found = await db.query<Stored<Run>>(
    `select ${COLUMNS} from ledger.runs where ${condition} order by created_at`,
    [...values],
  );
  return found.rows.map(withoutNulls);
}

/** Moves a running run from one phase to the next, where it may be already; false if it is in another phase. */
export async function movePhase(db: Queryable, id: string, from: string, to: string): Promise<boolean> {
  const moved = await db.query(
    `update ledger.runs set phase = $3 where id = $1 and phase in ($2, $3) and status = 'running'`,
    [id, from, to],
  );
  return moved.rowCount === 1;
}

/**
 * The progress of a run, as stored by its current job. The job parses it with its own schema, because an earlier
 * version may have written it.
 */
export interface Checkpoint extends Readonly<Record<string, unknown>> {
  readonly job: 'orders' | 'watch-orders' | 'tasks';
}

export interface RunProgress {
  readonly checkpoint?: Checkpoint;
  readonly scan?: ScanProof;
  readonly calls?: number;
  /** Calls were made that are not counted. */
  readonly callsMissed?: boolean;
  readonly limited?: number;
  readonly rowsSeen?: number;
  readonly rowsSettled?: number;
}

/**
 * Adds to a run's counters and replaces its checkpoint and scan label if given; a settled row ends the run's failure period.
 * Returns the status of the run.
 */
export async function recordProgress(db: Queryable, id: string, progress: RunProgress): Promise<RunStatus | undefined> {
  const { checkpoint, scan, calls = 0, callsMissed = false, limited = 0, rowsSeen = 0, rowsSettled = 0 } = progress;
  const recorded = await db.query<{ status: RunStatus }>(
    `update ledger.runs set calls = calls + $2, limited = limited + $3, rows_seen = rows_seen + $4,
       rows_settled = rows_settled + $5, checkpoint = coalesce($6, checkpoint), scan = coalesce($7, scan), calls_missed = calls_missed or $8,
       trouble_since = case when $5 = 0 then trouble_since end,
       open_since = case when status in ('running', 'paused') then open_since else clock_timestamp() end
     where id = $1 returning status`,
    [id, calls, limited, rowsSeen, rowsSettled, checkpoint, scan, callsMissed],
  );
  return recorded.rows[0]?.status;
}

/** Stores how many contacts or orders the filter of a run leaves out. */
export async function recordLeftOut(db: Queryable, id: string, leftOut: LeftOut): Promise<void> {
  await db.query('update ledger.runs set left_out = $2 where id = $1', [id, leftOut]);
}

/** Adds a note once. */
export async function addNote(db: Queryable, id: string, note: string): Promise<void> {
  await db.query(`update ledger.runs set notes = notes || to_jsonb($2::text) where id = $1 and not notes ? $2`, [
    id,
    note,
  ]);
}

const FAILED = 'an attempt failed: ';

/** Adds a note about a failure, in words that stay true when the run succeeds later. */
export async function addFailure(db: Queryable, id: string, message: string): Promise<void> {
  await addNote(db, id, `${FAILED}${message}`);
}

/** A note as one part of a sentence; of a failure, its message alone. */
export function noteWords(note: string): string {
  return note.replace(FAILED, '').replace(/\.+$/, '');
}

/** Records that a run has waited until a list must show what may have been new. */
export async function recordAwaited(db: Queryable, id: string, list: string): Promise<void> {
  await db.query(
    `update ledger.runs set lists_awaited = lists_awaited || $2::text where id = $1 and not $2 = any(lists_awaited)`,
    [id, list],
  );
}

/** Starts or ends the run's failure period; returns how long it has lasted, in milliseconds; 0 if there is none. */
export async function markFailing(db: Queryable, id: string, isFailing: boolean): Promise<number> {
  const marked = await db.query<{ lastedMs: number | null }>(
    `update ledger.runs set trouble_since = case when $2 then coalesce(trouble_since, clock_timestamp()) end
     where id = $1 returning (extract(epoch from clock_timestamp() - trouble_since) * 1000)::float8 as "lastedMs"`,
    [id, isFailing],
  );
  return marked.rows[0]?.lastedMs ?? 0;
}

/** A readable id that sorts by time. It is not all digits and has no colon, because BullMQ job ids are built from it. */
function newRunId(): string {
  const stamp = new Date().toISOString().slice(2, 16).replace(/[-:]/g, '').replace('T', '-');
  return `run-${stamp}-${randomBytes(3).toString('hex')}`;
}
