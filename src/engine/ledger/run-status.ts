/** Ends, pauses and resumes runs. */
import type { Queryable } from '../../storage/queryable.ts';
import { type Transactional, together } from '../../storage/transaction.ts';
import { IDLE_SINCE_MS } from './attended-runs.ts';
import { forgetReads, thinOut } from './retention/forget.ts';
import { COUNTS } from './run-counts.ts';
import { addFailure, type NewRun, type Run, readRun, runsWhere } from './runs.ts';
import { recordFigures } from './views/run-figures.ts';

type Ending = 'done' | 'failed' | 'cancelled';

interface RunError {
  readonly code: string;
  readonly message: string;
}

export const CANCELLED = 'CANCELLED';

/** What a run that a person cancelled keeps with it. `what`: how its message ends. */
export function cancelledBy(by: string, what = ': nothing more is sent.'): RunError {
  return { code: CANCELLED, message: `Cancelled by ${by}${what}` };
}

/**
 * Ends a run, and stores its counts with it. False if it has already ended: then nothing changes, because a failed run may be
 * resumed.
 */
export function endRun(db: Transactional, id: string, status: Ending, error?: RunError): Promise<boolean> {
  return together(db, (one) => end(one, id, status, error));
}

async function end(db: Transactional, id: string, status: Ending, error?: RunError): Promise<boolean> {
  const ended = await db.query(
    `with rows as materialized (
       select (select count(*) from ledger.inputs where run_id = $1) - (select count(*) from ledger.verdicts where run_id = $1) as open
     )
     update ledger.runs u set status = $2, revision = revision + 1, phase = case when $2 = 'failed' then phase end, ended_at = clock_timestamp(), trouble_since = null,
       idle_ms = idle_ms + case when status = 'paused' or is_left then ${IDLE_SINCE_MS} else 0 end,
       error_code = $3, error = $4, open_since = ${OPEN_SINCE}, counts = ${COUNTS('(select open from rows)')}
     where id = $1 and status in ('running', 'paused')`,
    [id, status, error?.code, error?.message],
  );
  if (ended.rowCount === 0) return false;
  if (status !== 'failed') await forgetReads(db, [id]);
  if (status === 'done') await thinOut(db, id);
  if (status === 'cancelled') await cancelParts(db, id);
  await recordFigures(db, id);
  return true;
}

/**
 * SQL: when a row of run `$1` with an unknown outcome last changed; a claimed row may be in flight now. `rows`: how many are open.
 * `offset 0`: each row is looked up in an index. Without statistics of the run, Postgres would compare each row with each other one.
 */
const OPEN_SINCE = `case when exists (select from ledger.chunks where run_id = $1) then clock_timestamp() when (select open > 0 from rows) then (
  select max(a.at) from ledger.attempts a where a.run_id = $1 and a.outcome <> 'unsent'
    and exists (select from ledger.plans p where p.run_id = $1 and p.n = a.n offset 0)
    and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = a.n offset 0)) end`;

async function cancelParts(db: Transactional, id: string): Promise<void> {
  const parts = await db.query<{ id: string }>('select id from ledger.runs where part_of = $1', [id]);
  for (const part of parts.rows) await endRun(db, part.id, 'cancelled');
}

/** Pauses a running run for the operator to check; `resumeRun` resumes it. */
export async function pauseRun(db: Queryable, id: string, why: { code: string; message: string }): Promise<void> {
  await db.query(
    `update ledger.runs set status = 'paused', error_code = $2, error = $3, attended_at = clock_timestamp()
     where id = $1 and status = 'running'`,
    [id, why.code, why.message],
  );
}

/**
 * Resumes a failed or paused run and the runs that work for it; false if it is neither, or another run has replaced it.
 */
export async function resumeRun(db: Queryable, id: string): Promise<boolean> {
  const resumed = await db.query(
    `update ledger.runs set status = 'running', ended_at = null, error_code = null, error = null, trouble_since = null,
       attended_at = clock_timestamp(), attended_by = null, is_left = false, idle_ms = idle_ms + ${IDLE_SINCE_MS}
     where (id = $1 or part_of = $1) and status in ('failed', 'paused') and phase is not null
       and not exists (select 1 from ledger.runs other where other.id <> ledger.runs.id and not other.dry_run
         and other.status in ('running', 'paused')
         and (other.sync = ledger.runs.sync or (other.scope = ledger.runs.scope and other.resource = ledger.runs.resource)))
     returning id`,
    [id],
  );
  return resumed.rows.some((run) => run.id === id);
}

/** A person has confirmed the tenant of a scope, so its runs that are paused for one of `codes` can be resumed. Returns them. */
export async function confirmPaused(
  db: Queryable,
  scope: string,
  codes: readonly string[],
): Promise<readonly string[]> {
  const paused = await runsWhere(db, `scope = $1 and status = 'paused' and error_code = any($2)`, [scope, codes]);
  for (const { id, account } of paused) {
    const message = `The tenant of account "${account}" is confirmed, and run ${id} can continue.${resumeHint(id)}`;
    await db.query(`update ledger.runs set error_code = 'TENANT_CONFIRMED', error = $2 where id = $1`, [id, message]);
  }
  return paused.map(({ id }) => id);
}

/** The end of the error of a failed run that can be resumed; removed when it no longer can. */
export function resumeHint(id: string): string {
  return ` Resume with: \`lockstep runs resume ${id}\``;
}

/**
 * Reopens the latest run of a sync as if it began now, if it failed and had these options. So a lasting failure of a sync that
 * starts every few seconds is one failed run. The run keeps the failure as a note.
 */
export async function startFailedAgain(
  db: Queryable,
  { sync, scope, options }: Pick<NewRun, 'sync' | 'scope' | 'options'>,
): Promise<Run | undefined> {
  const found = await db.query<{ id: string; error: string }>(
    `select id, error from (select * from ledger.runs where sync = $1 and not dry_run order by created_at desc limit 1) latest
     where status = 'failed' and scope = $2 and options = $3`,
    [sync, scope, options],
  );
  const last = found.rows[0];
  if (last === undefined || !(await resumeRun(db, last.id))) return undefined;
  await addFailure(db, last.id, last.error.replace(resumeHint(last.id), ''));
  await db.query('update ledger.runs set created_at = clock_timestamp(), idle_ms = 0 where id = $1', [last.id]);
  return readRun(db, last.id);
}

/**
 * Failed runs that wrote the same resource can no longer be resumed: this run has decided everything again, and their
 * unsent rows would be sent twice.
 */
export async function supersedeRuns(db: Queryable, run: Run): Promise<void> {
  const old = await db.query<{ id: string }>(
    `update ledger.runs set phase = null,
       error = concat_ws(' ', rtrim(replace(error, replace($4, '{id}', id), ''), '.') || '.',
         'Since then, run ' || $1 || ' has replaced it: there is nothing left to resume.')
     where scope = $2 and resource = $3 and id <> $1 and status = 'failed' and phase is not null returning id`,
    [run.id, run.scope, run.resource, resumeHint('{id}')],
  );
  const ids = old.rows.map(({ id }) => id);
  if (ids.length > 0) await forgetReads(db, ids);
}

/** Keeps that a person knows what is wrong with a run as it has ended; false if it is unfinished. */
export async function acknowledgeRun(db: Queryable, id: string, note: string): Promise<boolean> {
  const ended = await db.query(
    `update ledger.runs set acknowledged_revision = revision, notes = notes || to_jsonb($2::text)
     where id = $1 and status not in ('running', 'paused') and acknowledged_revision is distinct from revision returning id`,
    [id, note],
  );
  return ended.rowCount === 1;
}
