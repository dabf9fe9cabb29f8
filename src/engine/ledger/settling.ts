/** The common part of every read-back: missing rows, updates with an unknown outcome, open rows. */
import { absenceAfterMs } from '../../base/absence.ts';
import type { WholeKind } from '../../contract/kinds.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { oweAudits } from './audit-debts.ts';
import { prepareSetWork } from './match-index.ts';
import { MAX_SENDS } from './rows.ts';
import type { Run } from './runs.ts';
import { reviseRows, sendAgain, settleRows } from './transitions.ts';

/** A row that the service has acknowledged, or that an earlier read has shown, and that the list does not show. */
export interface Missing {
  /** As the answer to the create, or the earlier read, said; null if none did. */
  readonly id: string | null;
}

export interface Settled {
  /** If there are any, missing rows are decided by a second call, after these records were looked up. */
  readonly toLookUp: readonly Missing[];
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

/** SQL: the update `s` is not sent again: a read has to show it. */
export const IS_LAST_UPDATE = (s: string) =>
  `(${s}.action = 'update' and (${s}.state = 'acked' or ${s}.sends >= ${MAX_SENDS}))`;

/** Updates are idempotent: one with an unknown outcome is sent again, but not too often. Needs `sent`. */
async function repeatUpdates(db: Queryable, runId: string): Promise<void> {
  const sql = `select s.n, null::text as action from sent s where s.action = 'update' and not ${IS_LAST_UPDATE('s')}`;
  await sendAgain(db, runId, { sql });
}

const REFUSED = `'REFUSED_BY_SERVICE'`;

/** SQL: another attempt of the refused row `r` of run `$1` may have created the record. */
const MAY_HAVE_COMMITTED = (r: string) => `exists (select from ledger.attempts e where e.run_id = $1 and e.n = ${r}.n
  and e.outcome in ('unknown', 'lost') and coalesce(e.reason, '') not in (${REFUSED}, 'IMPORT_REFUSED'))`;

/** One read of the list, and what it proves. */
export interface ReadBack {
  /** As stored with the records. */
  readonly pass: number;
  /** When the read began, on the database's clock. */
  readonly readAt: Date;
  /** How long the service may take to commit or show a request (assumptions A1 and A2 in docs/protocol.md). */
  readonly settleMs: number;
  /** True if a record missing from the list does not exist. */
  readonly isWhole: boolean;
  /** The records of missing rows were looked up by their ids, and those that exist are stored. */
  readonly isLookedUp: boolean;
}

export interface Judging {
  readonly resource: WholeKind;
  /**
   * SQL: the records of the read that are new since the baseline and belong to no row (`strangers`), and the ids of those that
   * may be the record of row `m`.
   */
  readonly strangers: string;
  readonly candidates: string;
  /** The values of `strangers`, from `$5` on; `$1` is the run. */
  readonly values: readonly unknown[];
}

/** Records that a reason names, at most. */
const MOST_CANDIDATES = 5;

/** Settles what a run has sent. `settleFound`: what the list shows; it finds the temporary table `sent`. */
export async function settleSent(
  db: Queryable,
  run: Run,
  options: ReadBack,
  { settleFound, ...judging }: Judging & { settleFound(): Promise<void> },
): Promise<Settled> {
  await prepareSetWork(db, run.id);
  await gatherSent(db, run.id);
  await repeatUpdates(db, run.id);
  await settleFound();
  const toLookUp = await decideMissing(db, run, options, judging);
  return whatIsOpen(db, run.id, options.settleMs, toLookUp);
}

/**
 * Decides rows that the list does not show although the read began late enough. An acknowledged row is never sent again: a person
 * decides. A row that was refused inside an HTTP 200, or because its record exists, is rejected if a whole list has no new record
 * that may be its own, and a person decides if an earlier attempt may have created it. A row with an unknown outcome is sent
 * again, with an audit debt, if the list proves that its record is absent: no new record may be its own, and the list shows every
 * row that the service has acknowledged, and every one that an earlier read has shown. Returns the rows to look up first; then
 * nothing was decided. Needs `sent`.
 */
export async function decideMissing(
  db: Queryable,
  run: Run,
  { pass, readAt, settleMs, isWhole, isLookedUp }: ReadBack,
  { resource, strangers, candidates, values }: Judging,
): Promise<readonly Missing[]> {
  const sentBefore = new Date(readAt.getTime() - absenceAfterMs(settleMs));
  const what = resource.replace(/s$/, '');
  await dropSettled(db, run.id);
  await db.query(
    `create temp table missing on commit drop as
     select s.n, s.state, s.sends, s.reason, s.facts, s.facts->>'id' as id, i.source_id, i.label, i.email, i.fields->>'amount' as amount, coalesce(m.record_id, i.client_id) as client_id, s.action
     from sent s join ledger.inputs i on i.run_id = $1 and i.n = s.n
       left join ledger.matches m on m.run_id = $1 and m.n = s.n and m.kind = 'customer'
     where s.action <> 'update' and s.since <= $2`,
    [run.id, sentBefore],
  );
  await db.query(
    `create temp table lost on commit drop as
     select v.n, k.record_id as id, k.kind from ledger.verdicts v join ledger.records k on k.run_id = $1 and k.record_id = v.record_id
     where v.run_id = $1 and v.verdict = 'created' and v.at <= $2 and k.kind = $3 and k.is_listed and k.last_pass between 1 and $4 and $5`,
    [run.id, new Date(readAt.getTime() - settleMs), what, pass - 1, isWhole],
  );
  const unseen = await db.query<Missing>(
    `select id from (select n, id from missing where state = 'acked' union all select n, id from lost) unseen order by n`,
  );
  if (!isLookedUp && unseen.rows.length > 0) {
    await db.query('drop table missing, lost');
    return unseen.rows;
  }
  await db.query(
    `create temp table judged on commit drop as with strangers as materialized (${strangers}) -- not read again for each missing row
     select m.n, f.reason, case f.reason when ${REFUSED} then m.facts else jsonb_strip_nulls(jsonb_build_object(
       'what', $2::text, 'id', m.id, 'ids', case f.reason when 'NOT_RECOGNISED' then to_jsonb(c.ids) end,
       'sends', case f.reason when 'GAVE_UP' then m.sends end,
       'answer', case when f.reason = 'GAVE_UP' or m.reason = ${REFUSED} then m.facts->>'answer' end)) end as facts
     from missing m cross join lateral (select array(${candidates} limit ${MOST_CANDIDATES}) as ids offset 0) c
       cross join lateral (select case
       when c.ids <> '{}' then 'NOT_RECOGNISED'
       when m.reason = ${REFUSED} and $3 and not ${MAY_HAVE_COMMITTED('m')} then m.reason
       when m.state = 'acked' or m.reason = ${REFUSED} or not $3 or exists (select from missing where state = 'acked' union all select from lost) then 'NOT_IN_LIST'
       when m.sends >= $4 then 'GAVE_UP' end as reason) f`,
    [run.id, what, isWhole, MAX_SENDS, ...values],
  );
  await settleRows(db, run.id, {
    sql: `select n, case reason when ${REFUSED} then 'rejected' else 'review' end as verdict, reason, facts, null::text as record_id
      from judged where reason is not null`,
  });
  await reviseRows(db, run.id, {
    sql: `select n, 'review' as verdict, 'LOST' as reason, jsonb_build_object('what', kind, 'id', id) as facts, id as record_id from lost`,
  });
  const again = await sendAgain(db, run.id, {
    sql: 'select n, null::text as action from judged where reason is null',
  });
  await db.query('drop table missing, lost, judged');
  if (again.length > 0) await oweAudits(db, run, resource, again, settleMs);
  return [];
}

/**
 * The rows that are still open after all steps. A time that lies ahead, where the clock was just set back, counts as now.
 * Needs `sent`.
 */
async function whatIsOpen(
  db: Queryable,
  runId: string,
  settleMs: number,
  toLookUp: readonly Missing[],
): Promise<Settled> {
  await dropSettled(db, runId);
  const counted = await db.query<Omit<Settled, 'toLookUp'>>(
    `with ready as (
       select n from ledger.plans where run_id = $1 and n >= (select next_n from ledger.runs where id = $1)
       union select n from ledger.again where run_id = $1
     )
     select (select count(*) from ready r
         where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = r.n))::int as ready,
       count(*)::int as open,
       coalesce(greatest(0, extract(epoch from max(least(since, clock_timestamp())) - clock_timestamp()) * 1000 + $2), 0)::float8 as "againInMs"
     from sent`,
    [runId, absenceAfterMs(settleMs)],
  );
  const [left = { ready: 0, open: 0, againInMs: 0 }] = counted.rows;
  return { ...left, toLookUp };
}
