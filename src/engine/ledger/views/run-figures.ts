/**
 * Figures of whole runs: rows by outcome, and rows sent over time. Reading them takes seconds if a run is large, so they are
 * recorded when the run ends, and again by the next reader after rows of it have changed.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Verdict } from '../rows.ts';
import { ARRIVED, NOT_SENT } from '../unsettled.ts';

/** Rows with the same outcome. Rows that were created or updated without a remark are in no group. */
export interface OutcomeGroup {
  readonly verdict: Verdict;
  readonly reason: string | null;
  /** Column of the file, if the reason is about a cell. */
  readonly column: string | null;
  readonly count: number;
  /** How many of them have no verdict and may have arrived at the service. */
  readonly arrived: number;
  /** The reason is that of a verdict or an attempt. Otherwise it only says whether the rows may have arrived. */
  readonly isGiven: boolean;
  /** The numbers of the first rows, at most three. */
  readonly first: readonly number[];
}

export interface Throughput {
  /** How long each part of the run took, in seconds. */
  readonly widthS: number;
  readonly startedAt: Date;
  /** Rows that were sent in each part, without a gap. */
  readonly sent: readonly number[];
}

const FIRST = 3;
const PARTS = 60;

/** The verdicts that verdicts_explained has all rows of. */
const EXPLAINED: readonly Verdict[] = ['invalid', 'rejected', 'review', 'unknown'];
export const EXPLAINED_SQL = `('${EXPLAINED.join(`', '`)}')`;

/** All rows with this verdict are in groups. */
export function isGrouped(verdict: Verdict): boolean {
  return EXPLAINED.includes(verdict);
}

/** SQL: the groups of run `$1` as JSON, the largest first. `isWanted`: SQL about a verdict; rows without one are `unknown`. */
const GROUPS = (isWanted: (verdict: string) => string) => `(with open as materialized (
    select i.n from ledger.inputs i where i.run_id = $1 and ${isWanted(`'unknown'`)}
      and exists (select from ledger.runs where id = $1 and (ended_at is null or counts ? 'unknown'))
      and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = i.n)
  ), tried as (
    select a.n, bool_or(a.outcome in ${ARRIVED}) as arrived, (array_agg(a.reason order by a.id desc))[1] as reason
    from ledger.attempts a where a.run_id = $1 and a.n in (select n from open) group by a.n
  ), judged as (
    select n, verdict, reason, facts->>'column' as "column", false as arrived, true as is_given from ledger.verdicts
    where run_id = $1 and (reason is not null or verdict in ${EXPLAINED_SQL}) and ${isWanted('verdict')}
    union all
    select o.n, 'unknown', coalesce(t.reason, case when has.arrived then 'NOT_CONFIRMED' else ${NOT_SENT} end), null, has.arrived,
      t.reason is not null
    from open o left join tried t on t.n = o.n
      left join (select unnest(rows) as n from ledger.chunks where run_id = $1) h on h.n = o.n
      cross join lateral (select coalesce(t.arrived, false) or h.n is not null as arrived) has
  ), grouped as (
    select verdict, reason, "column", count(*)::int as count, count(*) filter (where arrived) as arrived, bool_or(is_given) as "isGiven",
      (array_agg(n order by n))[1:${FIRST}] as first
    from judged group by 1, 2, 3
  )
  select coalesce(jsonb_agg(to_jsonb(g) order by count desc, verdict, reason, "column"), '[]') from grouped g)`;

/** SQL: when run `$1` sent its rows, as JSON; null: it sent none. A lost attempt has the time at which it was found, so it is left out. */
const SENDS = `(with seconds as materialized (
    select date_trunc('second', at) as second, min(at) as first, max(at) as last, count(*) as sent
    from ledger.attempts where run_id = $1 and outcome not in ('unsent', 'lost') group by 1
  ), span as (
    select min(first) as began, greatest(1, ceil(extract(epoch from max(last) - min(first)) / ${PARTS})) as width from seconds
  ), parts as (
    select floor(extract(epoch from second - date_trunc('second', began)) / width)::int as part, sum(sent) as sent from seconds, span group by 1
  )
  select jsonb_build_object('startedAt', began, 'widthS', width, 'sent', (
    select jsonb_agg(coalesce(p.sent, 0) order by n) from generate_series(0, (select max(part) from parts)) n left join parts p on p.part = n))
  from span where began is not null)`;

interface Recorded {
  readonly groups: readonly OutcomeGroup[];
  readonly sends: Sends | null;
}

type Sends = Omit<Throughput, 'startedAt'> & { readonly startedAt: string };

/**
 * Records the figures of a run that has ended. A call that was under way when it ended is in a chunk until its answer is
 * recorded; before that, nothing is recorded here.
 */
export async function recordFigures(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `insert into ledger.run_figures as f (run_id, revision, groups, sends)
     select u.id, u.revision, ${GROUPS(() => 'true')}, ${SENDS} from ledger.runs u
     where u.id = $1 and u.ended_at is not null and not exists (select from ledger.chunks where run_id = $1)
     on conflict (run_id) do update set revision = excluded.revision, groups = excluded.groups, sends = excluded.sends
       where f.revision < excluded.revision`,
    [runId],
  );
}

/** Undefined for a run that has not ended, or has calls under way. */
async function readRecorded(db: Queryable, runId: string): Promise<Recorded | undefined> {
  const read = async () => {
    const found = await db.query<Recorded & { isEnded: boolean }>(
      `select u.ended_at is not null as "isEnded", f.groups, f.sends
       from ledger.runs u left join ledger.run_figures f on f.run_id = u.id and f.revision = u.revision where u.id = $1`,
      [runId],
    );
    return found.rows[0];
  };
  const recorded = await read();
  if (!recorded?.isEnded || recorded.groups) return recorded?.isEnded ? recorded : undefined;
  await recordFigures(db, runId);
  const again = await read();
  return again?.groups ? again : undefined;
}

/** Undefined for a run that has not ended. */
export async function recordedGroups(db: Queryable, runId: string): Promise<readonly OutcomeGroup[] | undefined> {
  return (await readRecorded(db, runId))?.groups;
}

/** The groups with these verdicts; `unknown` also means the rows without a verdict. The largest come first. */
export async function outcomeGroups(
  db: Queryable,
  runId: string,
  verdicts: readonly Verdict[],
): Promise<readonly OutcomeGroup[]> {
  if (verdicts.length === 0) return [];
  const recorded = await recordedGroups(db, runId);
  if (recorded) return recorded.filter(({ verdict }) => verdicts.includes(verdict));
  const groups = GROUPS((verdict) => `${verdict} = any($2)`);
  const found = await db.query<Pick<Recorded, 'groups'>>(`select ${groups} as groups`, [runId, verdicts]);
  return found.rows[0]?.groups ?? [];
}

/** Undefined if the run sent nothing. */
export async function throughputOf(db: Queryable, runId: string): Promise<Throughput | undefined> {
  const recorded = await readRecorded(db, runId);
  const { sends } =
    recorded ?? (await db.query<Pick<Recorded, 'sends'>>(`select ${SENDS} as sends`, [runId])).rows[0] ?? {};
  return sends ? { ...sends, startedAt: new Date(sends.startedAt) } : undefined;
}
