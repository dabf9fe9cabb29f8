/** Lists of runs, the newest first, with runs that changed nothing folded together. */
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';
import { type Run, type RunStatus, runsWhere } from './runs.ts';

export interface RunFilter {
  /** Name of the sync, or of the loaded file. */
  readonly sync?: string | undefined;
  readonly status?: RunStatus | undefined;
  readonly since?: Date | undefined;
  /** Only runs with a row of this verdict. */
  readonly verdict?: Verdict | undefined;
}

export interface ListedRun {
  /** The latest of them. */
  readonly run: Run;
  /** How many runs of this sync in a row changed nothing; 1 for any other run. */
  readonly folded: number;
  /** When the first of them began. */
  readonly since: Date;
}

/** At most `limit` entries. With `fold`, consecutive runs of a sync that found nothing new are one entry. */
export async function listRuns(
  db: Queryable,
  limit: number,
  { fold = false, ...filter }: RunFilter & { readonly fold?: boolean } = {},
): Promise<readonly ListedRun[]> {
  const found = await db.query<{ id: string; folded: number; since: Date }>(
    `with wanted as (
       select id, sync, created_at, ${IS_QUIET} as quiet from ledger.runs u
       where ($2::text is null or $2 in (sync, title)) and ($3::text is null or status = $3)
         and ($4::timestamptz is null or created_at >= $4)
         and ($5::text is null or counts ? $5 or status in ('running', 'paused')
           and exists (select from ledger.verdicts v where v.run_id = u.id and v.verdict = $5))
     ) ${fold ? FOLDED : EACH} limit $1`,
    [limit, filter.sync ?? null, filter.status ?? null, filter.since ?? null, filter.verdict ?? null],
  );
  const runs = await runsWhere(db, 'id = any($1)', [found.rows.map(({ id }) => id)]);
  const byId = new Map(runs.map((run) => [run.id, run]));
  return found.rows.flatMap(({ id, ...entry }) => {
    const run = byId.get(id);
    return run === undefined ? [] : { run, ...entry }; // deleted in between
  });
}

/** The newest runs of a sync first, without dry runs. */
export async function runsOf(db: Queryable, sync: string, limit: number): Promise<readonly Run[]> {
  const newest = 'select id from ledger.runs where sync = $1 and not dry_run order by created_at desc limit $2';
  return (await runsWhere(db, `id in (${newest})`, [sync, limit])).reverse();
}

/** SQL: run `u` is done and has found nothing but unchanged rows. */
export const IS_QUIET = `(u.status = 'done' and u.error is null and coalesce(u.counts, '{}') - 'unchanged' = '{}')`;

const EACH = 'select id, 1 as folded, created_at as since from wanted order by created_at desc, id desc';

/** Quiet runs of a sync are in a row if they have the same number of other runs after them. */
const FOLDED = `, numbered as (
    select *, count(*) filter (where not quiet) over (partition by sync order by created_at desc, id desc) as later
    from wanted
  )
  select (array_agg(id order by created_at desc, id desc))[1] as id, count(*)::int as folded, min(created_at) as since
  from numbered group by sync, quiet, case when quiet then later::text else id end
  order by max(created_at) desc, 1 desc`;

/** The run that was started last; undefined if there is none. A part of a load, such as its customers, is no run of its own. */
export async function latestRun(db: Queryable): Promise<Run | undefined> {
  const [latest] = await runsWhere(
    db,
    'id = (select id from ledger.runs where part_of is null order by created_at desc, id desc limit 1)',
  );
  return latest;
}

/** How long an ended run counts as the latest of its sync or file. */
const LATEST_DAYS = 7;

/** Every unfinished run, and the latest run of each sync and each loaded file of the last days if its audit is open. The newest come first. */
export async function unfinishedAndAuditing(db: Queryable): Promise<readonly Run[]> {
  const runs = await runsWhere(
    db,
    `part_of is null and id in (select id from ledger.runs where status in ('running', 'paused') union all
       select u.id from (select distinct on (sync, scope) id from ledger.runs
         where status in ('done', 'failed') and not dry_run and part_of is null
           and ended_at > now() - interval '${LATEST_DAYS} days'
         order by sync, scope, created_at desc) u
       where u.id in (select coalesce(part.part_of, d.run_id) from ledger.audit_debts d
         left join ledger.runs part on part.id = d.run_id where d.paid_at is null))`,
  );
  return runs.toReversed();
}
