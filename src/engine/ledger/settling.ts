/** The common part of every read-back: missing rows, updates with an unknown outcome, open rows. */
import { absenceAfterMs } from '../../base/absence.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type AuditedResource, oweAudits } from './debts.ts';
import type { Run } from './runs.ts';
import { sendAgain, settleRows } from './transitions.ts';

/**
 * SQL: whether so many acknowledged rows are missing from the list that it is not reliable. A service may occasionally
 * lose a call; if a tenth and at least three are missing, the list is incomplete.
 */
export const LACKS_MUCH = (missing: string, found: string): string =>
  `(${missing} > 0 and (${found} = 0 or (${missing} >= 3 and ${missing} * 10 >= ${found})))`;

export interface Settled {
  /** Rows to send again: they did not appear in time. */
  readonly ready: number;
  /** Rows that may still appear; a read that starts after `againInMs` decides them. */
  readonly open: number;
  readonly againInMs: number;
}

/**
 * Collects what a run has sent and not settled into the temporary table `sent (n, action, state, sends, since, reason,
 * facts)`, for the rest of the transaction: each row with its last attempt, which is `acked` or `unknown`. Whole runs are
 * settled from it without reading their attempts again.
 */
export async function gatherSent(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `create temp table sent on commit drop as
     with held as materialized (select unnest(rows) as n from ledger.chunks where run_id = $1),
     last as (
       select distinct on (a.n) a.n, a.action, a.outcome, a.sends, a.at, a.reason, a.facts from ledger.attempts a
       where a.run_id = $1 and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = a.n)
         and not exists (select from ledger.again g where g.run_id = $1 and g.n = a.n)
       order by a.n, a.id desc
     )
     select n, action, case outcome when 'acked' then 'acked' else 'unknown' end as state, sends, at as since, reason, facts
     from last where outcome in ('acked', 'unknown', 'lost') and n not in (select n from held)
       and exists (select from ledger.plans p where p.run_id = $1 and p.n = last.n)`,
    [runId],
  );
  await db.query('analyze sent');
}

/** Removes rows from `sent` that are now settled or will be sent again. */
async function dropSettled(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `delete from sent s using (select n from ledger.verdicts where run_id = $1
       union all select n from ledger.again where run_id = $1) gone where gone.n = s.n`,
    [runId],
  );
}

/** Updates are idempotent: one with an unknown outcome is sent again. Needs `sent`. */
export async function repeatUpdates(db: Queryable, runId: string): Promise<void> {
  const sql = `select n, null::text as action from sent where state = 'unknown' and action = 'update'`;
  await sendAgain(db, runId, { sql });
}

export interface Judging {
  readonly resource: AuditedResource;
  readonly settleMs: number;
  /**
   * SQL: common table expressions over `sent`, the last of which is `judged (n, reason)`; a row without a reason is sent
   * again. `$1` is the run, `$2` the time from which a missing row counts as absent, then `values`.
   */
  readonly judged: string;
  readonly values: readonly unknown[];
}

/** Sends missing rows again, with an audit debt for each, or sends them to manual review. Needs `sent`. */
export async function decideMissing(db: Queryable, run: Run, readAt: Date, judging: Judging): Promise<void> {
  const { resource, settleMs, judged, values } = judging;
  const sentBefore = new Date(readAt.getTime() - absenceAfterMs(settleMs));
  await dropSettled(db, run.id);
  await db.query(
    `create temp table missing on commit drop as with ${judged}
     select s.n, j.reason::text, jsonb_strip_nulls(jsonb_build_object('what', rtrim('${resource}', 's'),
       'sends', case j.reason when 'GAVE_UP' then s.sends end)) as facts from judged j join sent s on s.n = j.n`,
    [run.id, sentBefore, ...values],
  );
  await settleRows(db, run.id, {
    sql: `select n, 'review' as verdict, reason, facts, null::text as record_id from missing where reason is not null`,
  });
  const again = await sendAgain(db, run.id, {
    sql: 'select n, null::text as action from missing where reason is null',
  });
  await db.query('drop table missing');
  if (again.length > 0) await oweAudits(db, run, resource, again, settleMs);
}

/**
 * A service may refuse inside an HTTP 200 and still store the record. Rows that the read-back has not found are rejected
 * with the service's message; a record that appears later has the key that later runs look for. Needs `sent`.
 */
export async function rejectRefused(db: Queryable, runId: string): Promise<void> {
  await settleRows(db, runId, {
    sql: `select n, 'rejected' as verdict, reason, facts, null::text as record_id from sent
      where state = 'unknown' and reason = 'REFUSED_BY_SERVICE'`,
  });
}

/** The rows that are still open after all steps. Needs `sent`. */
export async function whatIsOpen(db: Queryable, runId: string, settleMs: number): Promise<Settled> {
  await dropSettled(db, runId);
  const counted = await db.query<Settled>(
    `with ready as (
       select n from ledger.plans where run_id = $1 and n >= (select next_n from ledger.runs where id = $1)
       union select n from ledger.again where run_id = $1
     )
     select (select count(*) from ready r
         where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = r.n))::int as ready,
       count(*)::int as open,
       coalesce(greatest(0, extract(epoch from max(since) - clock_timestamp()) * 1000 + $2), 0)::float8 as "againInMs"
     from sent`,
    [runId, absenceAfterMs(settleMs)],
  );
  return counted.rows[0] ?? { ready: 0, open: 0, againInMs: 0 };
}
