/** The customers that a run has updated, read again: a service may accept an update without storing it. */
import { lookUp } from '../../engine/account/look-up.ts';
import { beginRead, keepRecords, type SeenRecord } from '../../engine/ledger/records.ts';
import { type RunProgress, recordProgress } from '../../engine/ledger/runs.ts';
import { ledgerNow } from '../../engine/ledger/set-clock.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { toSeenRecord } from '../customers/read-customers.ts';

/** The list is read if there are more. */
const MOST = 100;

/**
 * Reads these customers by their ids, as pass `pass`. Returns when it began, on the database's clock; undefined if there are
 * too many, or the service does not return each of them: then the list has to be read. @throws Stop
 */
export async function readUpdated(
  { pool, run, account, signal }: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  ids: readonly string[],
): Promise<Date | undefined> {
  if (ids.length > MOST) return undefined;
  const readAt = await ledgerNow(pool);
  const onCalls = (made: RunProgress) => recordProgress(pool, run.id, made);
  const customers: SeenRecord[] = [];
  for (const id of ids) {
    const found = await lookUp(account, 'customers', id, { lane: run.lane, signal, onCalls });
    if (found.status !== 'found') return undefined;
    customers.push(toSeenRecord(found.record, account));
  }
  await exclusive.transaction(async (db) => {
    await beginRead(db, run.id, { kind: 'customer', pass });
    await keepRecords(db, run.id, pass, customers);
  });
  return readAt;
}
