/**
 * Rows: one record a run decides about.
 * `staged → ready → intent → acked | unknown | ready | settled`, and a read-back settles what is acked or unknown.
 * A row is claimed in a durable transaction before it is sent, and its outcome is written only under that claim.
 */
import type { Facts } from '../reasons/reason.ts';
import type { Claim } from './claims.ts';
import type { Queryable } from './runs.ts';

export type RowState = 'staged' | 'ready' | 'intent' | 'acked' | 'unknown' | 'settled';
export type RowAction = 'import' | 'create' | 'update';
export type Verdict = 'created' | 'updated' | 'unchanged' | 'existing' | 'invalid' | 'rejected' | 'review' | 'unknown';

export const VERDICTS: readonly Verdict[] = [
  'created',
  'updated',
  'unchanged',
  'existing',
  'invalid',
  'rejected',
  'review',
  'unknown',
];

/** As many answers in doubt and a person decides. A claim lost to a crash may have sent nothing and does not count. */
export const MAX_SENDS = 5;

export interface ClaimedRow {
  readonly sourceId: string;
  /** Among the run's rows: ascending as they were seen. */
  readonly place: number;
  readonly action: RowAction;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly recordId: string | undefined;
  /** Of an order: its customer's id. */
  readonly clientId: string | undefined;
  /** How often it was sent before. */
  readonly sends: number;
}

/**
 * Claims up to `limit` ready rows, oldest first: they are INTENT, durably, before anything is sent. `after`: the place of
 * the last row that this claim took before, so that the index entries which earlier claims left behind are not walked.
 */
export async function claimRows(
  db: Queryable,
  claim: Claim,
  limit: number,
  after = -1,
): Promise<readonly ClaimedRow[]> {
  const claimed = await db.query<{
    sourceId: string;
    place: number;
    action: RowAction;
    fields: Record<string, string | number> | null;
    recordId: string | null;
    clientId: string | null;
    sends: number;
  }>(
    `select source_id as "sourceId", n::float8 as place, action, fields, record_id as "recordId", client_id as "clientId", sends
     from ledger.claim_rows($1, $2, $3, $4)`,
    [claim.id, claim.runId, after, limit],
  );
  return claimed.rows.map((row) => ({
    ...row,
    fields: row.fields ?? {},
    recordId: row.recordId ?? undefined,
    clientId: row.clientId ?? undefined,
  }));
}

/** What became of one claimed row. */
export interface RowResult {
  readonly sourceId: string;
  /** `ready` is sent again; with `spent` false this send does not count. */
  readonly state: 'acked' | 'unknown' | 'ready' | 'settled';
  readonly spent: boolean;
  /** Changes what is tried next, such as creating where importing is refused. */
  readonly action?: RowAction;
  readonly verdict?: Verdict;
  readonly reason?: string;
  readonly detail?: string;
}

/**
 * Writes outcomes of rows held by `claim`; those no longer held are left alone. Answers how many were written. Each row is
 * looked up by its key, in a subquery, because no other plan stays quick: the run's rows are many, and the index of open ones
 * is full of entries that these very updates have left behind.
 */
export async function writeResults(db: Queryable, claim: Claim, results: readonly RowResult[]): Promise<number> {
  if (results.length === 0) return 0;
  const column = <K extends keyof RowResult>(name: K) => results.map((result) => result[name] ?? null);
  const written = await db.query(
    `with held as (select id from ledger.claims where id = $2 for share)
     update ledger.rows r set state = t.state, claim_id = null, since = clock_timestamp(),
       sends = r.sends + t.spent::int, action = coalesce(t.action, r.action),
       verdict = t.verdict, reason = t.reason, detail = t.detail
     from held, (
       select u.*, (select k.ctid from ledger.rows k where k.run_id = $1 and k.source_id = u.source_id) as place
       from unnest($3::text[], $4::text[], $5::bool[], $6::text[], $7::text[], $8::text[], $9::text[])
         as u(source_id, state, spent, action, verdict, reason, detail)) t
     where r.ctid = t.place and r.claim_id = held.id and (r.state = 'intent') is true`,
    [
      claim.runId,
      claim.id,
      column('sourceId'),
      column('state'),
      column('spent'),
      column('action'),
      column('verdict'),
      column('reason'),
      column('detail'),
    ],
  );
  return written.rowCount ?? 0;
}

/** How many rows of a run are in each open state. */
export async function openRows(db: Queryable, runId: string): Promise<Readonly<Record<RowState, number>>> {
  const counted = await db.query<{ state: RowState; n: number }>(
    `select state, count(*)::int as n from ledger.rows where run_id = $1 and state <> 'settled' group by state`,
    [runId],
  );
  const open: Record<RowState, number> = { staged: 0, ready: 0, intent: 0, acked: 0, unknown: 0, settled: 0 };
  for (const row of counted.rows) open[row.state] = row.n;
  return open;
}

export type Counts = Readonly<Record<Verdict | 'in', number>>;

/**
 * The run's rows by verdict, and what was seen unchanged without a row of its own; a row without a verdict yet counts as
 * unknown, so `in` is always the sum of the others.
 */
export async function countRows(db: Queryable, runId: string): Promise<Counts> {
  const counted = await db.query<{ verdict: Verdict; n: number }>(
    `select coalesce(verdict, 'unknown') as verdict, count(*)::int as n from ledger.rows where run_id = $1 group by 1
     union all select 'unchanged', unchanged::int from ledger.runs where id = $1`,
    [runId],
  );
  const counts: Record<Verdict | 'in', number> = {
    in: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    existing: 0,
    invalid: 0,
    rejected: 0,
    review: 0,
    unknown: 0,
  };
  for (const { verdict, n } of counted.rows) {
    counts[verdict] += n;
    counts.in += n;
  }
  return counts;
}

export interface ReasonCount {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly count: number;
}

/** Why rows came to their verdicts, the most frequent reason first; rows without a reason are left out. */
export async function reasonsOf(db: Queryable, runId: string): Promise<readonly ReasonCount[]> {
  const found = await db.query<ReasonCount>(
    `select coalesce(verdict, 'unknown') as verdict, reason, count(*)::int as count from ledger.rows
     where run_id = $1 and reason is not null group by 1, 2 order by 3 desc, 1, 2`,
    [runId],
  );
  return found.rows;
}

/** A row as people see it, in exports and `runs show`. */
export interface ReportedRow {
  readonly sourceId: string;
  readonly label: string | null;
  readonly verdict: Verdict;
  readonly reason: string | null;
  /** Rows of earlier versions have a text only: `said`. */
  readonly facts: Facts | null;
  readonly recordId: string | null;
  readonly action: RowAction | null;
  readonly sends: number;
}

/** Pages through a run's rows, optionally those of one verdict, in the order they were seen. */
export async function* reportRows(db: Queryable, runId: string, verdict?: Verdict): AsyncGenerator<ReportedRow> {
  const PAGE = 1_000;
  for (let after = -1; ; ) {
    const found = await db.query<ReportedRow & { n: number }>(
      `select source_id as "sourceId", label, coalesce(verdict, 'unknown') as verdict, reason,
         case when detail is not null then jsonb_build_object('said', detail) end as facts,
         record_id as "recordId", action, sends, n::int as n from ledger.rows
       where run_id = $1 and n > $2 and ($3::text is null or coalesce(verdict, 'unknown') = $3) order by n limit ${PAGE}`,
      [runId, after, verdict ?? null],
    );
    for (const { n, ...row } of found.rows) {
      after = n;
      yield row;
    }
    if (found.rows.length < PAGE) return;
  }
}
