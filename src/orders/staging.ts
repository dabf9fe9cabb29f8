/** The rows of a file as rows of its load: ready to be decided, or settled at once where something is wrong with them. */
import type pg from 'pg';
import type { OrderValues } from '../csv/validate.ts';
import { keysOf } from '../customers/keys.ts';
import type { RowState, Verdict } from '../engine/ledger/rows.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { LockstepError } from '../errors.ts';
import type { Cause } from '../reasons/reason.ts';
import { sentenceFor } from '../reasons/reasons.ts';
import { contentOf, customerOf, storable } from './fields.ts';

export interface StagedRow {
  /** Where it begins in the file; its name in the ledger. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Absent where the row is invalid. */
  readonly values?: OrderValues;
  /** Why it is not loaded; `isDuplicate`: an equal row stands before it. */
  readonly problem?: Cause & { readonly isDuplicate?: boolean };
}

/** A row with what became of it, for the results. */
export interface LoadedRow {
  readonly line: number;
  readonly cells: readonly string[];
  readonly state: RowState;
  /** Undefined while nothing is decided. */
  readonly verdict: Verdict | undefined;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
  /** The service's id of the order. */
  readonly recordId: string | undefined;
}

const PAGE = 1_000;

/**
 * Stages rows of a load that is being received, at most 1,000 a call, into its run. `labels`: what the names of orders begin with that the file gives none. @throws LockstepError LOAD_TAKEN_OVER
 */
export async function stageRows(db: Queryable, run: Run, rows: readonly StagedRow[], labels: string): Promise<void> {
  const staged = rows.map((row) => toColumns(row, labels));
  const kept = await db.query(
    `with load as (
       select l.run_id from ledger.loads l join ledger.runs u on u.id = l.run_id
       where l.run_id = $1 and u.status = 'paused' and not l.is_received for share of l
     ), t as materialized (
       select t.* from load, json_to_recordset($2) t (n bigint, cells text, label text, client_id text, email text, phone text,
         name text, org text, fields jsonb, customer jsonb, verdict text, reason text, detail text)
     ), kept as (
       insert into ledger.inputs (run_id, n, cells, label, client_id, email, phone, name, org, fields, customer)
       select $1, n, cells::json, label, client_id, email, phone, name, org, fields, customer from t
     ), judged as (
       insert into ledger.verdicts (run_id, n, verdict, reason, facts)
       select $1, n, verdict, reason, jsonb_build_object('said', detail) from t where verdict is not null
     )
     select 1 from load`,
    [run.id, JSON.stringify(staged)],
  );
  if (kept.rowCount === 0) throw takenOver(run.id);
}

/** Says that the load is still being received, and how far: whoever is silent for long is taken for dead. */
export async function noteReceiving(db: Queryable, runId: string, rows: number): Promise<void> {
  await db.query(
    `with load as (update ledger.loads set received_at = clock_timestamp() where run_id = $1 and not is_received)
     update ledger.runs set rows_seen = $2 where id = $1`,
    [runId, rows],
  );
}

/**
 * All rows in the order of the file, a page at a time, from one connection that is held meanwhile: the rows are sorted once,
 * where a query for each page would go through all of them each time.
 */
export async function* loadedRows(pool: pg.Pool, runId: string): AsyncGenerator<LoadedRow> {
  const db = await pool.connect();
  try {
    await db.query('begin read only');
    await db.query(
      `declare loaded no scroll cursor for
       select n::float8 as line, cells, state, verdict, reason, detail, record_id as "recordId" from ledger.rows
       where run_id = $1 order by n`,
      [runId],
    );
    for (;;) {
      const found = await db.query<{ [K in keyof LoadedRow]: LoadedRow[K] | null } & { line: number }>(
        `fetch ${PAGE} from loaded`,
      );
      for (const { line, cells, state, verdict, reason, detail, recordId } of found.rows) {
        yield {
          line,
          cells: cells ?? [],
          state: state ?? 'settled',
          verdict: verdict ?? undefined,
          reason: reason ?? undefined,
          detail: detail ?? undefined,
          recordId: recordId ?? undefined,
        };
      }
      if (found.rows.length < PAGE) return;
    }
  } finally {
    const broken = await db.query('rollback').then(
      () => undefined,
      (error: Error) => error, // whoever reads has its own; this connection is no good any more
    );
    db.release(broken);
  }
}

/** The error of a process whose load another one has begun anew, or somebody has cancelled. */
export function takenOver(runId: string): LockstepError {
  return new LockstepError(
    'LOAD_TAKEN_OVER',
    `Load ${runId} is not being received any more: it was cancelled, or another process has begun it anew. ` +
      'Run the same command again to join that one.',
    { exitCode: 3 },
  );
}

/** As the ledger names them. The cells are text within: they may hold what only json itself can. */
interface Columns {
  readonly n: number;
  readonly cells: string;
  readonly label: string | undefined;
  readonly client_id: string | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly name: string | undefined;
  readonly org: string | undefined;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly customer: Readonly<Record<string, unknown>> | undefined;
  readonly verdict: Verdict | undefined;
  readonly reason: string | undefined;
  readonly detail: string | undefined;
}

function toColumns({ line, cells, values, problem }: StagedRow, labels: string): Columns {
  const label = values && labelFor(values, line, labels);
  const isFine = !problem && values && label !== undefined;
  const customer = isFine ? customerOf(values) : undefined;
  const isFound = values?.client_id === undefined; // by what is said of the customer
  const keys = customer && keysOf(customer);
  const verdict = isFine ? undefined : verdictOn(problem);
  // No spread, which takes ten times as long, for every row of a file.
  return {
    n: line,
    cells: JSON.stringify(cells),
    label,
    client_id: isFine ? values.client_id : undefined,
    email: keys?.email, // held against the customer's, where the row has its id
    phone: isFound ? keys?.phone : undefined,
    name: isFound ? keys?.name : undefined,
    org: isFound ? keys?.org : undefined,
    fields: isFine ? { order_id: label, ...contentOf(values) } : undefined,
    customer: isFound ? customer : undefined,
    verdict: verdict?.verdict,
    reason: verdict?.reason,
    detail: verdict?.detail,
  };
}

/** Of a row that is not loaded. */
function verdictOn(problem: StagedRow['problem']): Required<Pick<Columns, 'verdict' | 'reason' | 'detail'>> {
  return {
    verdict: problem?.isDuplicate ? 'existing' : 'invalid',
    reason: problem?.isDuplicate ? 'DUP_IN_FILE' : (problem?.code ?? 'INVALID'),
    detail: storable(sentenceFor(problem?.code ?? 'INVALID', problem?.facts ?? null)),
  };
}

/** What the order is called: what the file says, or a name of ours that is the same however often this file is loaded. */
function labelFor(values: OrderValues, line: number, labels: string): string {
  const given = storable(values.order_id ?? '').trim();
  return given === '' ? `${labels}-${line}` : given;
}
