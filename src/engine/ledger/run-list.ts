/** The newest runs, and those that are not over. run-pages.ts lists all runs. */
import type { Queryable } from '../../storage/queryable.ts';
import { type Run, runsWhere } from './runs.ts';

/** The newest runs of each of these syncs first, at most `limit` of each, without dry runs. */
export async function newestRuns(db: Queryable, syncs: readonly string[], limit: number): Promise<readonly Run[]> {
  const newest = `select u.id from unnest($1::text[]) s (sync) cross join lateral (
    select id from ledger.runs where sync = s.sync and not dry_run order by created_at desc limit $2) u`;
  return (await runsWhere(db, `id = any(array(${newest}))`, [syncs, limit])).toReversed();
}

/** The paused run of each sync that has one. */
export async function pausedRuns(db: Queryable): Promise<ReadonlyMap<string, string>> {
  const found = await db.query<{ sync: string; id: string }>(
    `select sync, id from ledger.runs where status = 'paused' and part_of is null and not dry_run`,
  );
  return new Map(found.rows.map(({ sync, id }) => [sync, id]));
}

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
    `part_of is null and id = any(array(select id from ledger.runs where status in ('running', 'paused') union all
       select u.id from (select distinct on (sync, scope) id from ledger.runs
         where status in ('done', 'failed') and not dry_run and part_of is null
           and ended_at > now() - interval '${LATEST_DAYS} days'
         order by sync, scope, created_at desc) u
       where u.id in (select coalesce(part.part_of, d.run_id) from ledger.audit_debts d
         left join ledger.runs part on part.id = d.run_id where d.paid_at is null)))`,
  );
  return runs.toReversed();
}
