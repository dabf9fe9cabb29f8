/**
 * Files of a watched folder: the verdict on each, from the load of its rows or from the reason that it could not be received,
 * and its row in the run that watches the folder.
 */
import pg from 'pg';
import { LockstepError, messageOf } from '../../base/errors.ts';
import type { Facts } from '../../base/reasons/reason.ts';
import { storable } from '../../base/texts.ts';
import { visible } from '../../base/visible.ts';
import { UnclearFile } from '../../csv/column-errors.ts';
import { addRows, nextNumber } from '../../engine/ledger/inputs.ts';
import { countRows, PROBLEMS, type Verdict } from '../../engine/ledger/rows.ts';
import { type Run, recordProgress } from '../../engine/ledger/runs.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import { describeDatabaseError } from '../../storage/errors.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { storableFacts } from './fields.ts';
import { notDoneAsAsked, type OrdersOptions } from './options.ts';

export interface FileVerdict {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly facts: Facts;
}

/** One row for each time that a file was put away. */
export async function settleFile(
  db: Queryable,
  runId: string,
  name: string,
  { facts, ...fate }: FileVerdict,
): Promise<void> {
  const n = await nextNumber(db, runId);
  const label = storable(name);
  await addRows(db, runId, [{ n, sourceId: `${n} ${label}`, label, ...fate, facts: storableFacts(facts) }]);
  await recordProgress(db, runId, { rowsSeen: 1, rowsSettled: 1 });
}

/** The writer still had the file open. Loading only the rest could create orders without an order_id twice. */
export function changedWhileLoading({ id }: Run): FileVerdict {
  return { verdict: 'review', reason: 'FILE_CHANGED', facts: { load: id } };
}

/** `asked`: what the folder asks of its loads now. `isBefore`: an earlier run has loaded the same content. */
export async function verdictOfLoad(
  db: Queryable,
  load: Run,
  asked: Pick<OrdersOptions, 'existing' | 'createCustomers'>,
  isBefore: boolean,
): Promise<FileVerdict> {
  if (load.status !== 'done')
    return { verdict: 'rejected', reason: load.errorCode ?? 'LOAD_CANCELLED', facts: saidBy(load) };
  const changes = notDoneAsAsked(load, asked);
  if (changes.length > 0)
    return {
      verdict: 'review',
      reason: 'LOADED_WITH_OTHER_OPTIONS',
      facts: { load: load.id, options: changes.map((change) => change.replace(' ', '=')) },
    };
  const { in: rows, invalid, rejected, review, unknown } = await countRows(db, load.id);
  const left = invalid + rejected + review + unknown;
  if (left === 0) {
    if (isBefore) return { verdict: 'existing', reason: 'LOADED_BEFORE', facts: { load: load.id } };
    return { verdict: 'created', reason: 'LOADED', facts: { load: load.id, rows } };
  }
  const why = await reasonsOf(db, load.id, PROBLEMS);
  const reasons = why.map(({ reason, count }) => `${reason} ${count}`);
  const facts = {
    load: load.id,
    left,
    rows,
    ...(isBefore && { before: true }),
    ...(reasons.length > 0 && { reasons }),
    ...(left === invalid && { allInvalid: true }), // there is nothing to retry
  };
  return { verdict: 'review', reason: 'ROWS_LEFT', facts };
}

/** The load, and why it has not ended well. */
export function saidBy({ id, error }: Run): Facts {
  return { load: id, ...(error !== undefined && { said: error }) };
}

/** Why a file could not be received: the reason, if the file is the cause. `later`: another process is receiving the same file. */
export type Refusal = { readonly reason: string; readonly facts: Facts } | 'changed' | 'later' | 'not of the file';

/** One file must not stop the others, so an error without any other known cause is attributed to the file. */
export function fileRefusal(error: unknown): Refusal {
  if (error instanceof LockstepError) {
    if (error.code === 'CSV_CHANGED') return 'changed';
    if (error.code === 'LOAD_TAKEN_OVER') return 'later';
    if (error.code === 'PRESET_INVALID' || error.code === 'PRESETS_UNREADABLE') return 'not of the file';
    if (error instanceof UnclearFile) return { reason: error.code, facts: { problem: visible(error.statement) } };
    return error.exitCode === 2 ? { reason: error.code, facts: { said: visible(error.message) } } : 'not of the file';
  }
  if (describeDatabaseError(error, 'the database') !== undefined || isNetworkError(error)) return 'not of the file';
  // Class 22: a value that cannot be stored; 54: one that is too long.
  if (error instanceof pg.DatabaseError && !/^(22|54)/.test(error.code ?? '')) return 'not of the file';
  return { reason: 'UNEXPECTED', facts: { error: visible(messageOf(error)) } };
}

function isNetworkError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall));
}
