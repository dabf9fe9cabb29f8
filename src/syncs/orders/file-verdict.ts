/** The verdict on a file of a watched folder, from the load of its rows. */
import type { Facts } from '../../base/reasons/reason.ts';
import { countRows, PROBLEMS } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { FileVerdict } from './file-rows.ts';
import { notDoneAsAsked, type OrdersOptions } from './options.ts';

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
  };
  return { verdict: 'review', reason: 'ROWS_LEFT', facts };
}

/** The load, and why it has not ended well. */
export function saidBy({ id, error }: Run): Facts {
  return { load: id, ...(error !== undefined && { said: error }) };
}
