/** Runs and schedules that may need a person. */
import type { Queryable } from '../../../storage/queryable.ts';
import { CORRECTION_OF } from '../matching/corrections.ts';
import { FILTER_OF, IS_IN_LATER_LOAD } from '../review-sql.ts';
import type { Verdict } from '../rows.ts';
import { type Run, runsWhere } from '../runs.ts';
import { WAITS_FOR } from '../schedules.ts';
import { EXPLAINED_SQL } from './run-figures.ts';
import { LATEST_DAYS } from './run-list.ts';

/** A sync that found at least this many rows before should not find none. */
const MANY_ROWS = 10;

/** SQL: of each sync and loaded file, the latest run that is done, and the latest that failed. */
const LATEST = `select distinct on (sync, scope, status) id, job, options, sync, account, scope, resource, status, phase, counts, created_at,
    acknowledged_revision is not distinct from revision as is_acknowledged from ledger.runs
  where status in ('done', 'failed') and not dry_run and part_of is null
    and (ended_at > now() - interval '${LATEST_DAYS} days' or id = any($2))
  order by sync, scope, status, created_at desc`;

/**
 * SQL: a later run has replaced the failed run `u`: one of its sync, or one that is done and has decided its records again. After
 * the account has become another tenant, `u` cannot be resumed, so a run of its sync for the new tenant replaces it too.
 */
const IS_REPLACED = `exists (select from latest o where o.created_at > u.created_at and (
  o.sync = u.sync and (o.scope = u.scope or exists (select from ledger.accounts a where a.name = u.account and a.scope = o.scope))
  or u.phase is null and o.status = 'done' and o.scope = u.scope and o.resource = u.resource))`;

/** SQL: after the run `u` of contacts, a run of another sync has read the same contacts, or all: its rows count, as in the review. */
const IS_READ_AGAIN = `(u.job = 'contacts' and exists (select from latest o where o.job = 'contacts' and o.status = 'done'
  and o.scope = u.scope and o.created_at > u.created_at and (${FILTER_OF('o')} is null or ${FILTER_OF('o')} = ${FILTER_OF('u')})))`;

/** SQL: the counts of run `u`; of a load whose refused lines were loaded again, corrected, without these. */
const UNCORRECTED = `(case when ${CORRECTION_OF('u.id')} is null then u.counts else u.counts - array['invalid', 'rejected'] end)`;

/**
 * SQL: the run `u` of a watched folder has not loaded a file, and no later run has found a file of its name. Files that were
 * loaded in part are problems of their loads.
 */
const HAS_REFUSED_FILE = `exists (select from ledger.verdicts v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
  where v.run_id = u.id and v.verdict = any($1) and v.reason is distinct from 'ROWS_LEFT' and not exists (
    select from ledger.runs later join ledger.inputs o on o.run_id = later.id
    where later.sync = u.sync and later.scope = u.scope and later.created_at > u.created_at and later.counts is not null
      and o.label = i.label offset 0))`;

/** SQL: the runs of watched folders with such a file. The next run finds only new files, so it does not replace them. */
const REFUSING = `select u.id from ledger.runs u
  where u.status = 'done' and not u.dry_run and u.part_of is null and u.job = 'orders' and u.options ? 'folder' and u.counts ?| $1
    and (u.ended_at > now() - interval '${LATEST_DAYS} days' or u.id = any($2))
    and u.acknowledged_revision is distinct from u.revision and ${HAS_REFUSED_FILE}`;

/**
 * The unfinished runs, and of each sync and loaded file: the latest ended run, if it failed and no run has replaced it, and the
 * latest run that is done, if it has rows with one of these verdicts that no later run of contacts has read, or an audit found a
 * violation in it. A failed run says nothing about earlier rows; what a person has acknowledged counts no more, except a
 * violation. Of a sync that watches a folder: all runs with a refused file. `kept`: runs that count however long ago they ended.
 * The newest come first.
 */
export async function runsInNeed(
  db: Queryable,
  { verdicts, kept }: { readonly verdicts: readonly Verdict[]; readonly kept: readonly string[] },
): Promise<readonly Run[]> {
  const runs = await runsWhere(
    db,
    `part_of is null and id = any(array(select id from ledger.runs where status in ('running', 'paused')
       union all (with latest as materialized (${LATEST}) select u.id from latest u where case status
         when 'failed' then not is_acknowledged and not ${IS_REPLACED}
         else not is_acknowledged and not (u.job = 'orders' and u.options ? 'folder') and ${UNCORRECTED} ?| $1 and not ${IS_READ_AGAIN} or exists (
           select from ledger.audit_debts d left join ledger.runs part on part.id = d.run_id
           where d.violation is not null and (d.run_id = u.id or part.part_of = u.id)) end)
       union all ${REFUSING}))`,
    [verdicts, kept],
  );
  return runs.toReversed();
}

/** More rows are not compared with later loads. */
const MOST_COMPARED = 1_000;

/** Those of these loads whose rows with one of these verdicts are all in later loads, which say what became of them. */
export async function supersededLoads(
  db: Queryable,
  runs: readonly Run[],
  verdicts: readonly Verdict[],
): Promise<ReadonlySet<string>> {
  const few = runs.filter(({ type, counts }) => {
    const rows = verdicts.reduce((sum, verdict) => sum + (counts?.[verdict] ?? 0), 0);
    return type === 'orders' && rows > 0 && rows <= MOST_COMPARED;
  });
  if (few.length === 0) return new Set();
  const found = await db.query<{ id: string }>(
    // `offset 0`: the rows of each load are looked up. Postgres would join those of all runs.
    `select u.id from ledger.runs u where u.id = any($1) and not exists (
       select from ledger.verdicts v cross join lateral (
         select * from ledger.inputs i where i.run_id = v.run_id and i.n = v.n offset 0) i
       where v.run_id = u.id and v.verdict = any($2) and v.verdict in ${EXPLAINED_SQL} and not ${IS_IN_LATER_LOAD} offset 0)`,
    [few.map(({ id }) => id), verdicts],
  );
  return new Set(found.rows.map(({ id }) => id));
}

export interface EmptyRun {
  readonly sync: string;
  readonly run: string;
  readonly scope: string;
  readonly endedAt: Date;
  /** How many rows the last run with many rows had. */
  readonly before: number;
}

/** Syncs of contacts whose latest run found no row, although an earlier one found many. */
export async function emptyRuns(db: Queryable): Promise<readonly EmptyRun[]> {
  const found = await db.query<EmptyRun>(
    `select u.sync, u.id as run, u.scope, u.ended_at as "endedAt", earlier.n as before
     from (select distinct on (scope, sync) id from ledger.runs
         where job = 'contacts' and status = 'done' and not dry_run and part_of is null
         order by scope, sync, created_at desc, id desc) newest
       join ledger.runs u on u.id = newest.id
       cross join lateral (select ${ROWS('e')} as n from ledger.runs e
         where e.sync = u.sync and e.scope = u.scope and e.status = 'done' and not e.dry_run and ${ROWS('e')} >= ${MANY_ROWS}
         order by e.created_at desc limit 1) earlier
     where ${ROWS('u')} = 0 order by u.sync`,
  );
  return found.rows;
}

/** SQL: how many rows a run that is done had. */
function ROWS(run: string): string {
  return `(select coalesce(sum(value::bigint), 0)::float8 from jsonb_each_text(coalesce(${run}.counts, '{}')))`;
}

export interface LateSync {
  readonly sync: string;
  /** When it should have started. */
  readonly dueAt: Date;
  /** The unfinished run of another sync that it waits for. */
  readonly waitsFor: string | null;
}

/**
 * Syncs that were due longer than `graceMs` ago and have not started a run since. A sync that is paused, or has an
 * unfinished run, is not late.
 */
export async function lateSyncs(db: Queryable, graceMs: number): Promise<readonly LateSync[]> {
  const found = await db.query<LateSync>(
    `select s.sync, d.at as "dueAt", ${WAITS_FOR} as "waitsFor" from ledger.schedules s
       cross join lateral (select max(at) as at from unnest(array[s.unmet_since, s.due_at]) at
         where at < clock_timestamp() - $1 * interval '1 ms') d
     where d.at is not null and not exists (select from ledger.paused_syncs p where p.sync = s.sync)
       and not exists (select from ledger.runs u where u.sync = s.sync and not u.dry_run
         and (u.created_at >= d.at or u.status in ('running', 'paused')))
     order by s.sync`,
    [graceMs],
  );
  return found.rows;
}
