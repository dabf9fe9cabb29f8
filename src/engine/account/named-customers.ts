/**
 * Customers that the list of customers does not have although the orders name them: they were removed, or a filter or a limit
 * hides them. This shows hidden customers where ids are no numbers, so that the ids that the list skips cannot be named.
 */
import { isJsonObject } from '../../client/call/dialect.ts';
import { textOf } from '../../client/call/json.ts';
import type { SeenIds } from '../../client/lists/seen-ids.ts';
import type { JobContext } from '../worker/job.ts';
import { readStream, readsOf } from './reads.ts';

/** At most `most` of their ids, by one read of the orders; of a list in pages, by its first page. Empty if they cannot be read. */
export async function namedCustomers(
  context: JobContext<unknown>,
  listed: SeenIds,
  most: number,
): Promise<readonly string[]> {
  const { account, run, signal, log } = context;
  const named = new Set<string>();
  const enough = new Error('the beginning is enough');
  try {
    await readStream(account, 'orders.getall', {
      ...readsOf(context),
      onRecords: async (orders) => {
        for (const order of orders) {
          const id = isJsonObject(order) ? textOf(order.client_id) : '';
          if (id !== '' && !listed.has(id)) named.add(id);
        }
        if (named.size >= most) throw enough;
      },
    });
  } catch (error) {
    if (signal.aborted) throw error;
    if (error !== enough) log.warn({ err: error, run: run.id }, 'the customers that orders name could not be read');
  }
  return [...named].slice(0, most);
}
