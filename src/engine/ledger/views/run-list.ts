/** Lists of runs: pages, the newest first, with runs that changed nothing folded together; and the newest or unfinished ones. */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Verdict } from '../rows.ts';
import { type Run, type RunStatus, runsWhere } from '../runs.ts';

export interface RunFilter {
  /** Name of the sync, or of the loaded file. */
  readonly sync?: string | undefined;
  readonly account?: string | undefined;
  /** Default: any. */
  readonly status?: RunStatus | readonly RunStatus[] | undefined;
  readonly since?: Date | undefined;
  /** Started before this time. */
  readonly until?: Date | undefined;
  /** Only runs with a row of this verdict. */
  readonly verdict?: Verdict | undefined;
}

export interface ListedRun {
  /** The latest of them. */
  readonly run: Run;
  /** How many runs of this sync in a row changed nothing, all with rows or all without; 1 for any other run. */
  readonly folded: number;
  /** When the first of them began. */
  readonly since: Date;
}

export interface RunPage {
  readonly entries: readonly ListedRun[];
  /** `after` of the next page; undefined on the last one. */
  readonly next: string | undefined;
}

interface Found {
  readonly id: string;
  readonly sync: string;
  readonly createdAt: Date;
  /** Null if it changed something; else whether it had rows. */
  readonly quiet: 'unchanged' | 'empty' | null;
}

/** Runs are read in batches until the page is full, each twice as large as the one before: a page may fold many runs. */
const FIRST_BATCH = 250;

/**
 * At most `limit` entries. With `fold`, consecutive runs of a sync that found nothing new are one entry. `after`: the id of
 * the last run of the page before.
 */
export async function pageOfRuns(
  db: Queryable,
  filter: RunFilter,
  { limit, after, fold }: { readonly limit: number; readonly after?: string | undefined; readonly fold: boolean },
): Promise<RunPage> {
  const entries: { id: string; folded: number; since: Date; quiet: Found['quiet'] }[] = [];
  const quietEntries = new Map<string, (typeof entries)[number]>();
  let [last, next]: (string | undefined)[] = [after];
  for await (const { id, sync, createdAt, quiet } of runsAfter(db, filter, after)) {
    const entry = fold ? quietEntries.get(sync) : undefined;
    if (entry && entry.quiet === quiet) {
      entry.folded += 1;
      entry.since = createdAt;
    } else if (entries.length === limit) {
      next = last;
      break;
    } else {
      const added = { id, folded: 1, since: createdAt, quiet };
      entries.push(added);
      if (quiet) quietEntries.set(sync, added);
      else quietEntries.delete(sync);
    }
    last = id;
  }
  const runs = await runsWhere(db, 'id = any($1)', [entries.map(({ id }) => id)]);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const listed = entries.flatMap(({ id, folded, since }) => {
    const run = byId.get(id);
    return run === undefined ? [] : [{ run, folded, since }]; // deleted in between
  });
  return { entries: listed, next };
}

async function* runsAfter(db: Queryable, filter: RunFilter, after: string | undefined): AsyncGenerator<Found> {
  let last = after;
  for (let size = FIRST_BATCH; ; size *= 2) {
    const batch = await readBatch(db, filter, { after: last, size });
    yield* batch;
    if (batch.length < size) return;
    last = batch.at(-1)?.id;
  }
}

/** SQL: see Found.quiet, of run `u`. */
const QUIET = `case when u.status <> 'done' or u.error is not null or coalesce(u.counts, '{}') - 'unchanged' <> '{}' then null
  when u.counts ? 'unchanged' then 'unchanged' else 'empty' end`;

async function readBatch(
  db: Queryable,
  filter: RunFilter,
  { after, size }: { readonly after: string | undefined; readonly size: number },
): Promise<readonly Found[]> {
  const { sync, status, verdict, since, until, account } = filter;
  const found = await db.query<Found>(
    `select id, sync, created_at as "createdAt", ${QUIET} as quiet from ledger.runs u
     where ($1::text is null or $1 in (sync, title)) and ($2::text[] is null or status = any($2))
       and ($3::text is null or counts ? $3 or status in ('running', 'paused')
         and exists (select from ledger.verdicts v where v.run_id = u.id and v.verdict = $3))
       and ($4::timestamptz is null or created_at >= $4) and ($5::timestamptz is null or created_at < $5)
       and ($6::text is null or account = $6)
       and ($7::text is null or (created_at, id) < (select created_at, id from ledger.runs where id = $7))
     order by created_at desc, id desc limit $8`,
    [sync, status && [status].flat(), verdict, since, until, account, after, size],
  );
  return found.rows;
}

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
export const LATEST_DAYS = 7;

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
