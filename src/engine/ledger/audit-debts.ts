/**
 * Audit debts: rows that were sent again after their outcome was unknown. The service may still commit the first send
 * after every read of the run, so each of these rows is checked later against another complete read of the list.
 */
import type { Facts } from '../../base/reasons/reason.ts';
import type { WholeKind } from '../../contract/kinds.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { prepareSetWork, type Reading, startOfRead } from './match-index.ts';
import { recount } from './recount.ts';
import type { Verdict } from './rows.ts';
import type { Run } from './runs.ts';
import { reviseRows, settleRows } from './transitions.ts';

/** An audit is due this many settle times after the row was last sent. */
const SETTLES_UNTIL_AUDIT = 3;

/** If an ended run left a row unknown for longer than this, the next run's baseline read is its audit. */
const SETTLES_UNTIL_FORGOTTEN = 2 * SETTLES_UNTIL_AUDIT;

/** SQL: when the row of debt `d` was last sent, as `sent.at`. */
const LAST_SENT =
  'left join lateral (select max(a.at) as at from ledger.attempts a where a.run_id = d.run_id and a.n = d.n) sent on true';

/**
 * SQL: the open debts `d`, each with its run `u`, the verdict `v` and the match `m` of its row, and when the row was last
 * sent, if these exist.
 */
const OPEN_DEBTS = `ledger.audit_debts d left join ledger.runs u on u.id = d.run_id
  left join ledger.verdicts v on v.run_id = d.run_id and v.n = d.n
  left join ledger.matches m on m.run_id = d.run_id and m.n = d.n and m.kind = rtrim(d.resource, 's')
  ${LAST_SENT} where d.paid_at is null`;

/** SQL: when the audit of debt `d` is due. */
const DUE_AT = `greatest(d.doubt_at, sent.at) + ${SETTLES_UNTIL_AUDIT} * d.settle_ms * interval '1 ms'`;

/**
 * SQL: a read that starts when debt `d` is due can pay it. The debt of an open row cannot be paid: its run still sends
 * the row.
 */
const IS_PAYABLE = `(d.n is null or v.n is not null or u.id is null or u.status not in ('running', 'paused'))`;

/** Adds debts for rows of a run. */
export async function oweAudits(
  db: Queryable,
  { id }: Run,
  resource: WholeKind,
  rows: readonly number[],
  settleMs: number,
): Promise<void> {
  await db.query(
    `insert into ledger.audit_debts (run_id, n, source_id, scope, resource, contact_id, email, phone, name, org, client_id, label, settle_ms)
     select i.run_id, i.n, coalesce(i.source_id, i.n::text), u.scope, $2, case when u.job = 'contacts' then i.source_id end,
       i.email, i.phone, i.name, i.org, coalesce(m.record_id, i.client_id), i.label, $4
     from unnest($3::bigint[]) chosen (n) join ledger.inputs i on i.run_id = $1 and i.n = chosen.n
       join ledger.runs u on u.id = i.run_id
       left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer' and u.job = 'orders'
     on conflict (run_id, source_id) do update set doubt_at = clock_timestamp(), settle_ms = excluded.settle_ms,
       paid_at = null, paid_by = null, record_ids = null, violation = null`,
    [id, resource, rows, settleMs],
  );
}

export interface EarlierSends {
  readonly resource: WholeKind;
  readonly settleMs: number;
  /** SQL: which runs `u` of the scope write the same records. */
  readonly runs: string;
  /** SQL: whether row `k` of such a run is the same record as row `s` of this one; both `n, source_id, client_id` and keys. */
  readonly same: string;
}

/**
 * Adds debts for rows of this run that are about to be sent although they were sent before, with an unknown outcome: by this
 * run before it was opened again, or by a run that has ended. Their sends count from 0 again.
 */
export async function oweForEarlierSends(
  db: Queryable,
  run: Run,
  { resource, settleMs, runs, same }: EarlierSends,
): Promise<void> {
  const ended = await db.query<{ id: string }>(
    `select u.id from ledger.runs u where u.scope = $1 and ${runs} and u.id <> $2 and not u.dry_run
       and u.open_since > clock_timestamp() - ${SETTLES_UNTIL_FORGOTTEN} * $3::bigint * interval '1 ms'`,
    [run.scope, run.id, settleMs],
  );
  const again = await db.query<{ n: number }>(
    `with ready as materialized (${PLANNED('p.run_id = $1')} and (p.n >= u.next_n or g.n is not null))
     select r.n::float8 as n from ready r where exists (select from ledger.attempts a where a.run_id = $1 and a.n = r.n)
     ${ended.rowCount === 0 ? '' : `union select s.n::float8 from ready s join (${PLANNED('p.run_id = any($2)')} and p.n < u.next_n and g.n is null) k on ${same}`}`,
    ended.rowCount === 0 ? [run.id] : [run.id, ended.rows.map(({ id }) => id)],
  );
  const rows = again.rows.map(({ n }) => n);
  if (rows.length > 0) await oweAudits(db, run, resource, rows, settleMs);
}

/** SQL: rows without a verdict that create something, planned or sent. */
const PLANNED = (
  which: string,
) => `select i.n, coalesce(i.source_id, i.n::text) as source_id, i.email, i.phone, i.name, i.org,
    i.label, coalesce(m.record_id, i.client_id) as client_id
  from ledger.plans p join ledger.runs u on u.id = p.run_id join ledger.inputs i on i.run_id = p.run_id and i.n = p.n
    left join ledger.again g on g.run_id = p.run_id and g.n = p.n
    left join ledger.matches m on m.run_id = p.run_id and m.n = p.n and m.kind = 'customer' and u.job = 'orders'
  where ${which} and p.action <> 'update' and not exists (select from ledger.verdicts v where v.run_id = p.run_id and v.n = p.n)`;

export interface Violation {
  /** The run that sent the row. */
  readonly run: string;
  readonly row: string;
  readonly label: string;
  readonly reason: 'DUPLICATE' | 'LOST';
  readonly ids: readonly string[];
  readonly facts: Facts;
}

/** A read of a list, as kept in ledger.records. */
export interface AuditingRead extends Reading {
  /** True if the read certainly missed nothing; otherwise only duplicates count. */
  readonly isComplete: boolean;
  /** SQL: `run_id, source_id, record_id` of debts `due` and their records; `$1` is the run, `$2` the pass. */
  readonly matches: string;
}

/** Whether debts were due when this read of the run began. */
export async function areAuditsDue(db: Queryable, { id, scope }: Run, { kind, pass }: Reading): Promise<boolean> {
  const due = await db.query(
    `select 1 from ${OPEN_DEBTS} and d.scope = $1 and d.resource = $2 and ${IS_PAYABLE} and ${DUE_AT} <= (
       select begun_at from ledger.reads where run_id = $3 and kind = $4 and pass = $5) limit 1`,
    [scope, `${kind}s`, id, kind, pass],
  );
  return due.rowCount !== 0;
}

export interface Audit {
  /** Rows whose audit is still due. */
  readonly open: number;
  /** When the last of these is due; null if none is open. */
  readonly dueAt: Date | null;
  /** Rows that an audit found more than once, or no longer found. */
  readonly violations: number;
  /** Those that no person has decided about since. */
  readonly undecided: number;
  /** Those of the undecided that are among the rows in review of the run itself. */
  readonly inReview: number;
}

/** SQL: scopes that an account still uses; lists of other scopes cannot be read. */
const REACHABLE = 'select scope from ledger.accounts';

/** SQL: a person has decided about the row of debt `d` since its audit. */
const IS_DECIDED = `exists (select from ledger.decisions i where i.scope = d.scope and i.choice <> 'later' and i.decided_at > d.paid_at
  and i.undone_at is null and i.lapsed_at is null and case i.kind when 'order' then i.run_id = d.run_id and i.n = d.n else i.subject = d.source_id end)`;

/** The audits of these runs, each with the runs that work for it, by run; none for a run without open debts and violations. */
export async function auditsOf(db: Queryable, runIds: readonly string[]): Promise<ReadonlyMap<string, Audit>> {
  if (runIds.length === 0) return new Map();
  const found = await db.query<Audit & { run: string }>(
    `with owing as (
       select id, id as run from unnest($1::text[]) t (id)
       union all select id, part_of from ledger.runs where part_of = any($1)
     ), debts as (
       select o.run, d.violation, ${IS_DECIDED} as is_decided, d.run_id = o.run and v.verdict = 'review' as is_in_review, ${DUE_AT} as due_at, d.paid_at is null and d.scope in (${REACHABLE}) as is_open
       from owing o join ledger.audit_debts d on d.run_id = o.id
         left join ledger.verdicts v on v.run_id = d.run_id and v.n = d.n ${LAST_SENT}
     )
     select run, (count(*) filter (where is_open))::int as open, (count(violation))::int as violations,
       (count(violation) filter (where not is_decided))::int as undecided,
       (count(violation) filter (where not is_decided and is_in_review))::int as "inReview", max(due_at) filter (where is_open) as "dueAt"
     from debts group by run having bool_or(is_open or violation is not null)`,
    [runIds],
  );
  return new Map(found.rows.map(({ run, ...audit }) => [run, audit]));
}

/** The violations that the reads of these runs, and of runs that work for them, found in rows of any run, and that no person has decided about. */
export async function violationsFoundBy(db: Queryable, runIds: readonly string[]): Promise<readonly Violation[]> {
  const found = await db.query<Violation>(
    `select d.run_id as run, d.source_id as row, coalesce(d.label, d.source_id) as label, d.violation as reason,
       d.record_ids as ids, v.facts
     from ledger.audit_debts d join ledger.verdicts v on v.run_id = d.run_id and v.n = d.n
     where d.violation is not null and not ${IS_DECIDED} and d.paid_by in (select id from ledger.runs where id = any($1) or part_of = any($1))
     order by d.run_id, d.n`,
    [runIds],
  );
  return found.rows;
}

/** An audit that left debts unpaid, because it failed, was cancelled or the list was incomplete, is made again after this time. */
export const NEXT_AUDIT_MINUTES = 10;

/** SQL: an audit reads the whole list, so a due debt waits this long for debts of the list that are due soon. */
const WAIT_FOR_MORE = `${SETTLES_UNTIL_AUDIT} * d.settle_ms * interval '1 ms'`;

/** The lists of these accounts that are to be audited now: one account of each scope. */
export async function dueAudits(
  db: Queryable,
  accounts: readonly string[],
): Promise<readonly { account: string; scope: string; resource: WholeKind }[]> {
  const due = await db.query<{ account: string; scope: string; resource: WholeKind }>(
    `select min(n.name) as account, d.scope, d.resource from ledger.accounts n join (
       select d.scope, d.resource from ${OPEN_DEBTS} and ${IS_PAYABLE} and not exists (select 1 from ledger.runs a
           where a.job = 'audit' and a.scope = d.scope and a.options->>'resource' = d.resource
             and a.created_at >= ${DUE_AT} and a.ended_at > clock_timestamp() - interval '${NEXT_AUDIT_MINUTES} min')
         group by d.scope, d.resource
         having max(${DUE_AT}) <= clock_timestamp() or min(${DUE_AT} + ${WAIT_FOR_MORE}) <= clock_timestamp()) d
       on d.scope = n.scope where n.name = any($1) group by d.scope, d.resource`,
    [accounts],
  );
  return due.rows;
}

/**
 * Pays the debts that were due when the read began, none if the read is lost; run it in one transaction; safe to repeat.
 * Rows whose record exists twice or no longer go to manual review, and the counts of their runs are updated. Returns these
 * rows.
 */
export async function payDebts(
  db: Queryable,
  run: Run,
  { kind, pass, isComplete, matches }: AuditingRead,
): Promise<readonly Violation[]> {
  const readAt = await startOfRead(db, run.id, { kind, pass });
  if (!readAt) return [];
  await prepareSetWork(db, run.id, 'records');
  const paid = await db.query<Violation & { n: number; verdict: Verdict | null }>(
    `with due as materialized (
       select d.*, coalesce(v.record_id, m.record_id) as record_id, v.verdict, v.reason from ${OPEN_DEBTS} and d.scope = $3 and d.resource = $4 and ${IS_PAYABLE} and ${DUE_AT} <= $5
     ), found as (
       select run_id, source_id, array_agg(record_id order by length(record_id), record_id) as ids
       from (select distinct run_id, source_id, record_id from (${matches}) m) each group by run_id, source_id
     ), judged as (
       select due.*, coalesce(ids, '{}') as ids, case
           when due.reason = 'DUPLICATE' then null -- the run has reported it
           when cardinality(ids) > 1 then 'DUPLICATE'
           when ids is null and due.verdict = 'created' and due.record_id is not null then 'LOST' end as judgement
       from due left join found using (run_id, source_id)
     ), paid as (
       update ledger.audit_debts d set paid_at = clock_timestamp(), paid_by = $1, record_ids = j.ids, violation = j.judgement
       from judged j where d.run_id = j.run_id and d.source_id = j.source_id and d.paid_at is null
         and ($6 or cardinality(j.ids) > 1)
       returning d.run_id, d.source_id, d.n, d.label, j.ids, j.judgement, j.verdict, j.record_id
     )
     select run_id as run, source_id as row, n::float8 as n, coalesce(label, source_id) as label, judgement as reason, ids, verdict,
       jsonb_strip_nulls(jsonb_build_object('what', rtrim($4, 's'), 'audit', case judgement when 'DUPLICATE' then true end,
         'ids', case judgement when 'DUPLICATE' then to_jsonb(ids) end, 'id', case judgement when 'LOST' then record_id end)) as facts
     from paid where judgement is not null and n is not null order by run_id, n`,
    [run.id, pass, run.scope, `${kind}s`, readAt, isComplete],
  );
  for (const { run: of, n, verdict, reason, facts, ids } of paid.rows) {
    const sql = `select $2::bigint as n, 'review' as verdict, $3::text as reason, $4::jsonb as facts,
      coalesce((select v.record_id from ledger.verdicts v where v.run_id = $1 and v.n = $2), $5::text) as record_id`;
    const chosen = { sql, values: [n, reason, facts, ids[0] ?? null] };
    await (verdict === null ? settleRows : reviseRows)(db, of, chosen);
  }
  await recount(
    db,
    paid.rows.map(({ run: of, verdict }) => ({ run: of, was: verdict ?? 'unknown', is: 'review' })),
  );
  return paid.rows.map(({ n: _, verdict: __, ...violation }) => violation);
}
