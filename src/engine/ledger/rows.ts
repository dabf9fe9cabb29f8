/**
 * Rows: one record a run decides about. The input of a row never changes; what happens to it is appended. See README.md
 * here. A row is claimed in a durable transaction before it is sent, and its outcome is written only under that claim.
 */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable, Stored } from '../../storage/queryable.ts';
import type { Claim } from './claims.ts';
import type { RecordKind } from './match-index.ts';

export type RowState = 'staged' | 'ready' | 'intent' | 'acked' | 'unknown' | 'settled';
export type RowAction = 'import' | 'create' | 'update';
export const VERDICTS = [
  'created',
  'updated',
  'unchanged',
  'existing',
  'invalid',
  'rejected',
  'review',
  'unknown',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Rows with these verdicts need a person. */
export const PROBLEMS: readonly Verdict[] = ['rejected', 'review', 'invalid', 'unknown'];
/** While a run is unfinished, a row without a verdict is no problem yet. */
export const DECIDED_PROBLEMS = PROBLEMS.filter((verdict) => verdict !== 'unknown');

/**
 * After this many unknown outcomes the operator decides. A claim lost to a crash may have sent nothing and does not
 * count.
 */
export const MAX_SENDS = 5;

/** A row, and the chunk that it was claimed in. */
export interface RowKey {
  readonly n: number;
  readonly chunk: number;
}

export interface ClaimedRow extends RowKey {
  readonly sourceId: string;
  readonly action: RowAction;
  readonly fields: Readonly<Record<string, string | number>>;
  readonly recordId: string | undefined;
  /** For an order: its customer's id. */
  readonly clientId: string | undefined;
  /** How often it was sent since it was planned. */
  readonly sends: number;
}

type Absent = 'fields' | 'recordId' | 'clientId';

/** Claims up to `limit` ready rows durably before anything is sent: first rows to send again, then the oldest. */
export async function claimRows(db: Queryable, claim: Claim, limit: number): Promise<readonly ClaimedRow[]> {
  const claimed = await db.query<Omit<ClaimedRow, Absent> & Stored<Pick<ClaimedRow, Absent>>>(
    `select chunk_id::float8 as chunk, n::float8 as n, source_id as "sourceId", action, fields, record_id as "recordId",
       client_id as "clientId", sends
     from ledger.claim_rows($1, $2, $3)`,
    [claim.id, claim.runId, limit],
  );
  // No spread here: it takes ten times as long, and this runs for every row.
  return claimed.rows.map(({ chunk, n, sourceId, action, fields, recordId, clientId, sends }) => ({
    chunk,
    n,
    sourceId,
    action,
    fields: fields ?? {},
    recordId: recordId ?? undefined,
    clientId: clientId ?? undefined,
    sends,
  }));
}

export interface Attempt extends RowKey {
  /**
   * `acked`: the service accepted it; `refused`: it did not; `unknown`: a read has to show it; `unsent`: it is sent
   * later.
   */
  readonly outcome: 'acked' | 'refused' | 'unknown' | 'unsent';
  /** How often the row was sent since it was planned, including this time if it may have arrived. */
  readonly sends: number;
  readonly action: RowAction;
  readonly http?: number | undefined;
  readonly ms?: number | undefined;
  readonly verdict?: Verdict;
  readonly reason?: string;
  readonly facts?: Facts;
}

/** A Postgres array literal of numbers or plain words: the driver takes ten times as long to build one. */
function listed<T>(items: readonly T[], member: (item: T) => number | string | undefined): string {
  return `{${items.map((item) => member(item) ?? 'NULL').join()}}`;
}

/**
 * Appends the outcomes of rows held by `claim`, once each; writes nothing if the claim is no longer held. Safe to repeat,
 * even if a recorded row has been claimed again. Returns how many were written.
 */
export async function recordAttempts(db: Queryable, claim: Claim, attempts: readonly Attempt[]): Promise<number> {
  if (attempts.length === 0) return 0;
  const recorded = await db.query<{ written: number }>(
    'select ledger.record_attempts($2, $1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as written',
    [
      claim.runId,
      claim.id,
      listed(attempts, ({ n }) => n),
      listed(attempts, ({ chunk }) => chunk),
      listed(attempts, ({ outcome }) => outcome),
      listed(attempts, ({ action }) => action),
      listed(attempts, ({ sends }) => sends),
      listed(attempts, ({ http }) => http),
      listed(attempts, ({ ms }) => ms && Math.round(ms)),
      // Most attempts have none of these.
      attempts.some(({ verdict }) => verdict) ? attempts.map(({ verdict }) => verdict ?? null) : null,
      attempts.some(({ reason }) => reason) ? attempts.map(({ reason }) => reason ?? null) : null,
      attempts.some(({ facts }) => facts) ? attempts.map(({ facts }) => facts && JSON.stringify(facts)) : null,
    ],
  );
  return recorded.rows[0]?.written ?? 0;
}

/** Whether any row of a run is ready or claimed, so that sending is not finished. Reads only a few rows. */
export async function isAnyToSend(db: Queryable, runId: string): Promise<boolean> {
  const open = (rows: string) => `exists (select from (${rows}) r
    where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = r.n offset 0))`;
  const found = await db.query<{ is: boolean }>(
    `select ${open('select n from ledger.plans where run_id = $1 and n >= (select next_n from ledger.runs where id = $1)')}
       or ${open('select n from ledger.again where run_id = $1')}
       or ${open('select unnest(rows) as n from ledger.chunks where run_id = $1')} as is`,
    [runId],
  );
  return found.rows[0]?.is ?? false;
}

/**
 * SQL: the rows of `from` without a verdict in run `$1`. `except`, because Postgres may compare every row with every verdict where
 * it has no statistics of the run yet and `not exists` says the same.
 */
const unsettled = (from: string) => `(${from} except select v.n from ledger.verdicts v where v.run_id = $1)`;

/** SQL: the rows of run `$1` that a claim holds, and how many rows are ready to be claimed. */
const TO_SEND = `held as materialized ${unsettled('select unnest(rows) as n from ledger.chunks where run_id = $1')},
     ready as (
       select (select count(*) from ${unsettled(`select p.n from ledger.plans p
           where p.run_id = $1 and p.n >= (select next_n from ledger.runs where id = $1)`)} p)
         + (select count(*) from ${unsettled('select g.n from ledger.again g where g.run_id = $1')} g) as n
     )`;

/** SQL: how many rows of run `$1` are planned and have no verdict. */
const PLANNED = `planned as (
       select count(*) as n from ${unsettled('select p.n from ledger.plans p where p.run_id = $1')} p)`;

/**
 * SQL: how many inputs run `$1` has. A load that was received gets no more, and its run knows how many it got: counting them reads
 * each, and a table with rows of several widths may have them all on different pages.
 */
const INPUTS = `coalesce(
       (select u.rows_seen - (select coalesce(sum(value::bigint), 0) from jsonb_each_text(u.pruned))
         from ledger.runs u join ledger.loads l on l.run_id = u.id and l.is_received where u.id = $1),
       (select count(*) from ledger.inputs where run_id = $1))`;

/** SQL: the rows of run `$1`, and how many have a verdict. */
const WHOLE = `whole as (
       select ${INPUTS} as inputs,
         (select count(*) from ledger.verdicts where run_id = $1) as settled,
         (select count(*) from held) as held
     )`;

export interface RowsLeft {
  /** All rows that the run sends: those that it has sent, too. */
  readonly planned: number;
  /** Ready to be sent, or being sent. */
  readonly toSend: number;
  /** Sent, and without a verdict; of a run that plans nothing, such as a scan of tasks, all without a verdict. */
  readonly toSettle: number;
}

/** How many rows a run has left. It costs a fraction of `openRows`. */
export async function rowsLeft(db: Queryable, runId: string): Promise<RowsLeft> {
  const counted = await db.query<RowsLeft>(
    `with ${TO_SEND}, ${WHOLE}, ${PLANNED}, all_planned as (select count(*) as n from ledger.plans where run_id = $1)
     select a.n::int as planned, (ready.n + held)::int as "toSend",
       (case when a.n = 0 then inputs - settled else planned.n - ready.n - held end)::int as "toSettle"
     from ready, whole, planned, all_planned a`,
    [runId],
  );
  return counted.rows[0] ?? { planned: 0, toSend: 0, toSettle: 0 };
}

export async function openRows(db: Queryable, runId: string): Promise<Readonly<Record<RowState, number>>> {
  const counted = await db.query<Record<RowState, number>>(
    `with ${TO_SEND}, ${PLANNED}, doubt as (
       select count(*) as n from ledger.attempts a where a.run_id = $1 and a.outcome in ('unknown', 'lost')
         and not exists (select from ledger.attempts l where l.run_id = $1 and l.n = a.n and l.id > a.id offset 0)
         and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = a.n offset 0)
         and not exists (select from ledger.again g where g.run_id = $1 and g.n = a.n offset 0)
         and exists (select from ledger.plans p where p.run_id = $1 and p.n = a.n offset 0)
         and a.n not in (select n from held)
     ), ${WHOLE}
     select (inputs - settled - planned.n)::int as staged, ready.n::int as ready, held::int as intent, doubt.n::int as unknown,
       (planned.n - ready.n - held - doubt.n)::int as acked, settled::int as settled
     from whole, planned, ready, doubt`,
    [runId],
  );
  return counted.rows[0] ?? { staged: 0, ready: 0, intent: 0, acked: 0, unknown: 0, settled: 0 };
}

export type Counts = Readonly<Record<Verdict | 'in', number>>;

/** With 0 for each other verdict. */
export function countsOf(counts: Readonly<Partial<Record<string, number>>> = {}): Counts {
  const all = VERDICTS.map((verdict) => [verdict, counts[verdict] ?? 0] as const);
  const sum = all.reduce((total, [, n]) => total + n, 0);
  return { in: sum, ...Object.fromEntries(all) } as Counts; // safe: it has every verdict
}

/**
 * The run's rows by verdict, with deleted rows and the unchanged records without a row; a row without a verdict counts as unknown, so `in`
 * is always the sum of the others.
 */
export async function countRows(db: Queryable, runId: string): Promise<Counts> {
  const counted = await db.query<{ verdict: Verdict; n: number }>(
    `with judged as (select verdict, count(*)::int as n from ledger.verdicts where run_id = $1 group by 1)
     select verdict, n from judged
     union all select 'unknown', (${INPUTS} - (select coalesce(sum(n), 0) from judged))::int
     union all select 'unchanged', unchanged::int from ledger.runs where id = $1
     union all select key, value::int from ledger.runs, jsonb_each_text(pruned) where id = $1`,
    [runId],
  );
  const counts = new Map<Verdict, number>();
  for (const { verdict, n } of counted.rows) counts.set(verdict, n + (counts.get(verdict) ?? 0));
  return countsOf(Object.fromEntries(counts));
}

/** What the record of a row held when its update was planned. `isOld`: by a read that began longer than `settle` ago. */
export interface Before {
  readonly fields: Readonly<Record<string, string>>;
  readonly isOld: boolean;
}

export async function readBefore(
  db: Queryable,
  {
    runId,
    n,
    kind,
    settleMs,
  }: { readonly runId: string; readonly n: number; readonly kind: RecordKind; readonly settleMs: number },
): Promise<Before> {
  const found = await db.query<{ fields: Before['fields'] | null; isOld: boolean }>(
    `select p.was as fields, coalesce(r.begun_at + $4 * interval '1 ms' < clock_timestamp(), true) as "isOld"
     from ledger.plans p left join ledger.reads r on r.run_id = p.run_id and r.kind = $3 and r.pass = 0
     where p.run_id = $1 and p.n = $2`,
    [runId, n, kind, settleMs],
  );
  const [{ fields, isOld } = { fields: null, isOld: true }] = found.rows;
  return { fields: fields ?? {}, isOld };
}
