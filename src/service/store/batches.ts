/**
 * Group commit: requests that arrive while a batch is being processed form the next batch, so concurrent requests share
 * a statement and its commit. There are no timers: a single request does not wait.
 */
import { codeOf } from '../../base/errors.ts';

interface Asked<Item, Outcome> {
  readonly item: Item;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** Limits the size of a statement, because a request's body may be a megabyte. */
const MAX_ITEMS = 100;

/**
 * Returns a function of one item, which `work` processes together with others. `work` processes all of its items or
 * none, and returns their outcomes in order. If Postgres refuses a batch because of its values, the batch is halved
 * until only the invalid items get the error. Any other error is given to every item: it may be unknown whether the
 * batch was committed, so no item may be written again.
 */
export function batched<Item, Outcome>(
  work: (items: readonly Item[]) => Promise<readonly Outcome[]>,
): (item: Item) => Promise<Outcome> {
  const waiting: Asked<Item, Outcome>[] = [];
  let isWorking = false;

  async function workAll(): Promise<void> {
    isWorking = true;
    while (waiting.length > 0) await settle(waiting.splice(0, MAX_ITEMS));
    isWorking = false;
  }

  async function settle(batch: readonly Asked<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await work(batch.map(({ item }) => item));
      // as: there is one outcome for each item.
      for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      if (batch.length > 1 && isRefusal(error)) {
        const half = batch.length >> 1;
        await Promise.all([settle(batch.slice(0, half)), settle(batch.slice(half))]);
      } else for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void workAll();
    });
}

/** Classes 22 (data exception) and 23 (constraint violation): Postgres has rolled the statement back. */
function isRefusal(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '');
}
