/** Stages the rows of a file as rows of its load: ready to be decided, or settled at once if they are invalid. */
import { LockstepError } from '../../base/errors.ts';
import type { Cause } from '../../base/reasons/reason.ts';
import { storable } from '../../base/texts.ts';
import type { OrderValues } from '../../csv/fields.ts';
import { type FileLine, type StagedOrder, stageOrders } from '../../engine/ledger/matching/staged-orders.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { keysOf } from '../customers/keys.ts';
import { customerOf, orderContent, storableFacts } from './fields.ts';

export interface StagedRow {
  /** The line where it begins; its number in the ledger. */
  readonly line: number;
  readonly cells: readonly string[];
  /** All lines of an order that has several. */
  readonly lines?: readonly FileLine[];
  /** The order_id that an earlier load gave to a row whose cells cannot be read. */
  readonly label?: string;
  /** The values of an invalid row that could be read. */
  readonly values: OrderValues;
  /** Why it is not loaded. */
  readonly problem?: Cause;
}

const BATCH_ROWS = 1_000;
/** Memory holds several copies of a batch, so rows with long cells come in smaller ones. */
const BATCH_CHARACTERS = 500_000;

/** Rows that are staged together. */
export class Batch {
  #rows: StagedRow[] = [];
  #characters = 0;

  add(row: StagedRow): void {
    this.#rows.push(row);
    for (const cells of row.lines?.map((line) => line.cells) ?? [row.cells])
      for (const cell of cells) this.#characters += cell.length;
  }

  get isFull(): boolean {
    return this.#rows.length >= BATCH_ROWS || this.#characters >= BATCH_CHARACTERS;
  }

  /** Returns its rows, and is empty then. */
  take(): readonly StagedRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#characters = 0;
    return rows;
  }
}

/**
 * Stages rows of a load that is being received, a batch per call. `labels`: the prefix for the labels of orders to which
 * the file gives none. @throws LockstepError LOAD_TAKEN_OVER
 */
export async function stageRows(db: Queryable, run: Run, rows: readonly StagedRow[], labels: string): Promise<void> {
  const staged = rows.map((row) => (row.problem ? invalidOrder(row, row.problem, labels) : validOrder(row, labels)));
  if (!(await stageOrders(db, run.id, staged))) throw takenOver(run.id);
}

/** Records that the load is still being received, and how far: a receiver that is silent for long counts as dead. */
export async function noteReceiving(db: Queryable, runId: string, rows: number): Promise<void> {
  await db.query(
    `with load as (update ledger.loads set received_at = clock_timestamp() where run_id = $1 and not is_received)
     update ledger.runs set rows_seen = $2 where id = $1 and status = 'paused'`,
    [runId, rows],
  );
}

/** The error of a process whose load another process has begun again. A cancelled load is not reported so (`receiveLoad`). */
export function takenOver(runId: string): LockstepError {
  return new LockstepError(
    'LOAD_TAKEN_OVER',
    `Load ${runId} is no longer being read: another process has started it again. Run the same command again to join that load.`,
    { exitCode: 3 },
  );
}

function validOrder(row: StagedRow, labels: string): StagedOrder {
  const { line, values } = row;
  const label = labelOf(row, labels);
  const customer = customerOf(values);
  const isFound = values.client_id === undefined; // the customer is found by the row's other fields
  const keys = keysOf(customer);
  // No spread here: it takes ten times as long, and this runs for every row of a file.
  return {
    n: line,
    source_id: rangeOf(row),
    cells: JSON.stringify(row.lines ?? row.cells),
    label,
    client_id: values.client_id,
    email: keys.email, // compared with the customer's e-mail if the row has a client_id
    phone: isFound ? keys.phone : undefined,
    name: isFound ? keys.name : undefined,
    org: isFound ? keys.org : undefined,
    fields: orderContent(values, label),
    customer: isFound ? customer : undefined,
  };
}

/**
 * A row that is not loaded keeps its order_id, because another row may have the same one, or gets its label now: so it is one
 * order however often it is corrected.
 */
function invalidOrder(row: StagedRow, { code, facts }: Cause, labels: string): StagedOrder {
  return {
    n: row.line,
    source_id: rangeOf(row),
    cells: JSON.stringify(row.lines ?? row.cells),
    label: labelOf(row, labels),
    verdict: 'invalid',
    reason: code,
    facts: facts && storableFacts(facts),
  };
}

/** `4-6`. */
function rangeOf({ line, lines }: StagedRow): string | undefined {
  return lines && `${line}-${lines.at(-1)?.line}`;
}

/** The order's label in the file; a generated label is the same whenever this file is loaded. */
function labelOf({ line, label, values }: StagedRow, labels: string): string {
  return storable(values.order_id ?? label ?? '').trim() || `${labels}-${line}`;
}
