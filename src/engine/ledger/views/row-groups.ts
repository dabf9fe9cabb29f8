/** The rows of a run, grouped by what became of them and why. */
import type { Facts } from '../../../base/reasons/reason.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { SHOWN_CHANGES } from '../matching/differences.ts';
import { VERDICTS, type Verdict } from '../rows.ts';
import type { Run } from '../runs.ts';
import { ARRIVED } from '../unsettled.ts';
import { type OutcomeGroup, outcomeGroups, recordedGroups } from './run-figures.ts';

export interface RowGroup extends Pick<OutcomeGroup, 'verdict' | 'reason' | 'column' | 'count'> {
  /** The first rows of the group, at most three. */
  readonly examples: readonly GroupExample[];
}

export interface GroupExample {
  readonly sourceId: string;
  readonly label: string | null;
  readonly facts: Facts | null;
}

/** `verdicts`: which of the rows that need a person are wanted; `unknown` also means the rows without a verdict. The largest groups come first. */
export async function groupRows(db: Queryable, runId: string, verdicts: readonly Verdict[]): Promise<RowGroup[]> {
  const groups = await outcomeGroups(db, runId, verdicts);
  const found = await db.query<GroupExample & { n: number }>(
    `select i.n::float8 as n, coalesce(i.source_id, i.n::text) as "sourceId", i.label,
       case when v.n is not null then v.facts else coalesce((
         select a.facts from ledger.attempts a where a.run_id = $1 and a.n = i.n order by a.id desc limit 1), ${SHOWN_CHANGES('i.n')}) end as facts
     from ledger.inputs i left join ledger.verdicts v on v.run_id = $1 and v.n = i.n
     where i.run_id = $1 and i.n = any($2)`,
    [runId, groups.flatMap(({ first }) => first)],
  );
  const examples = new Map(found.rows.map(({ n, ...example }) => [n, example]));
  return groups.map(({ verdict, reason, column, count, first }) => {
    return { verdict, reason, column, count, examples: first.flatMap((n) => examples.get(n) ?? []) };
  });
}

export interface ReasonCount {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly count: number;
}

/** The reasons of verdicts and attempts, the most frequent first; rows without one are left out. */
export async function reasonsOf(
  db: Queryable,
  runId: string,
  verdicts: readonly Verdict[] = VERDICTS,
): Promise<readonly ReasonCount[]> {
  const counts = new Map<string, ReasonCount>();
  for (const { verdict, reason, count, isGiven } of await outcomeGroups(db, runId, verdicts)) {
    if (reason === null || !isGiven) continue;
    const key = `${verdict} ${reason}`;
    counts.set(key, { verdict, reason, count: count + (counts.get(key)?.count ?? 0) });
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count);
}

export interface Unsettled {
  /** Sent, or claimed to be sent, and neither an answer nor a read has confirmed them. */
  readonly sent: number;
  readonly neverSent: number;
}

/** Of `open` rows without a verdict: how many may have arrived. Of an unfinished run only these are read, not all of its rows. */
export async function splitUnsettled(
  db: Queryable,
  { id, endedAt }: Pick<Run, 'id' | 'endedAt'>,
  open: number,
): Promise<Unsettled> {
  if (open === 0) return { sent: 0, neverSent: 0 };
  const groups = endedAt && (await recordedGroups(db, id));
  const arrived = groups?.reduce((sum, group) => sum + group.arrived, 0) ?? (await countArrived(db, id));
  const sent = Math.min(open, arrived);
  return { sent, neverSent: open - sent };
}

async function countArrived(db: Queryable, runId: string): Promise<number> {
  const isOpen = 'not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = sent.n)';
  const counted = await db.query<{ arrived: number }>(
    `select count(*)::int as arrived from (
       select n from ledger.attempts sent where run_id = $1 and outcome in ${ARRIVED} and ${isOpen}
       union select n from ledger.chunks, unnest(rows) sent (n) where run_id = $1 and ${isOpen}) open`,
    [runId],
  );
  return counted.rows[0]?.arrived ?? 0;
}
