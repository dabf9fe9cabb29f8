/** The customers that a run has updated, read again: a service may accept an update without storing it. */
import { lookUp } from '../../engine/account/look-up.ts';
import { readsOf } from '../../engine/account/reads.ts';
import { keepCustomers, type SeenCustomer } from '../../engine/ledger/match-index.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { toSeenCustomer } from '../customers/read-customers.ts';
import { beginReading } from '../read-back.ts';

/** The list is read if there are more. */
const MOST = 100;

/**
 * Reads these customers by their ids, as pass `pass`. False if there are too many, or the service does not return each of
 * them: then the list has to be read. @throws Stop
 */
export async function readUpdated(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  ids: readonly string[],
): Promise<boolean> {
  if (ids.length > MOST) return false;
  const { run, account } = context;
  await beginReading(context, exclusive, { kind: 'customer', pass });
  const customers: SeenCustomer[] = [];
  for (const id of ids) {
    const found = await lookUp(account, 'customers', id, readsOf(context));
    if (found.status !== 'found') return false;
    customers.push(toSeenCustomer(found.record, account));
  }
  await exclusive.transaction((db) => keepCustomers(db, run.id, pass, customers));
  return true;
}
