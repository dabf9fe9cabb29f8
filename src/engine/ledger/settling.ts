/** What every read-back has to do, whatever it reads: what is missing, updates with an unknown outcome, what is left open. */
import { absenceAfterMs } from '../../absence.ts';
import { type AuditedResource, oweAudits } from './debts.ts';
import type { Queryable, Run } from './runs.ts';
import { sendAgain, settleRows } from './transitions.ts';

/**
 * SQL: of what the service acknowledged, so much is missing from the list that the list is not to be trusted. A service may
 * lose a call now and then; one that loses a tenth, and three, shows a part of its list only.
 */
export const LACKS_MUCH = (missing: string, found: string): string =>
  `(${missing} > 0 and (${found} = 0 or (${missing} >= 3 and ${missing} * 10 >= ${found})))`;

export interface Settled {
  /** Rows to be sent again: they are not there, and were given the time to be. */
  readonly ready: number;
  /** Rows that may still appear; a read that starts after `againInMs` decides them. */
  readonly open: number;
  readonly againInMs: number;
}

/**
 * Gathers what a run has sent and not settled into the temporary table `sent (n, action, state, sends, since, reason, facts)`,
 * for the rest of the transaction: each row with its last attempt, which is `acked` or `unknown`. Whole runs are settled from
 * it, without a further look at their attempts.
 */
export async function gatherSent(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `create temp table sent on commit drop as
     with held as materialized (
       select h.n from (select id, unnest(rows) as n from ledger.chunks where run_id = $1) h
       where not exists (select from ledger.attempts a where a.run_id = $1 and a.n = h.n and a.chunk_id = h.id)
     ), last as (
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

/** Takes rows out of `sent` that are settled by now, or are sent again. */
async function dropSettled(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `delete from sent s using (select n from ledger.verdicts where run_id = $1
       union all select n from ledger.again where run_id = $1) gone where gone.n = s.n`,
    [runId],
  );
}

/** An update leaves the same however often it is sent: one with an unknown outcome is sent again. Needs `sent`. */
export async function repeatUpdates(db: Queryable, runId: string): Promise<void> {
  const sql = `select n, null::text as action from sent where state = 'unknown' and action = 'update'`;
  await sendAgain(db, runId, { sql });
}

export interface Judging {
  readonly resource: AuditedResource;
  readonly settleMs: number;
  /**
   * SQL: common table expressions over `sent`, the last of which is `judged (n, reason)`; a row without a reason is sent again.
   * `$1` is the run, `$2` when absence began to count, then `values`.
   */
  readonly judged: string;
  readonly values: readonly unknown[];
}

/** Sends missing rows again, which leaves an audit debt for each, or hands them to a person. Needs `sent`. */
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
  if (again.length > 0) await db.query(oweAudits(resource, SENT_AGAIN, 3), [run.id, again, settleMs]);
}

const SENT_AGAIN = `(
    select i.run_id, coalesce(i.source_id, i.n::text) as source_id, i.email, i.phone, i.name, i.org, i.label,
      coalesce(m.record_id, i.client_id) as client_id
    from ledger.inputs i left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer'
    where i.run_id = $1 and i.n = any($2)
  ) s join ledger.runs u on u.id = s.run_id`;

/**
 * A refusal inside an HTTP 200 may come from a service that keeps the record all the same. What the read-back has not found
 * is rejected, in the service's words; what comes later has the key that later runs look for. Needs `sent`.
 */
export async function rejectRefused(db: Queryable, runId: string): Promise<void> {
  await settleRows(db, runId, {
    sql: `select n, 'rejected' as verdict, reason, facts, null::text as record_id from sent
      where state = 'unknown' and reason = 'REFUSED_BY_SERVICE'`,
  });
}

/** What is left after all of that. Needs `sent`. */
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
