/** The behaviour of targets that show many items in few calls, for all vendors. */
import { expect, test } from 'vitest';
import type { ItemState, Target } from '../../../src/contract/target.ts';
import { context, type ItemVendor, needsOf } from '../../support/item-vendor.ts';

export async function readMany(target: Target, ids: readonly string[]): Promise<readonly ItemState[]> {
  const { readItems } = target;
  if (readItems === undefined) throw new Error('the target shows one item in a call');
  const all: ItemState[] = [];
  for (let from = 0; from < ids.length; from += readItems.most) {
    const items = await readItems.read(ids.slice(from, from + readItems.most), context());
    if ('status' in items) throw new Error(`the items were not read: ${JSON.stringify(items)}`);
    all.push(...items);
  }
  return all;
}

/** For targets that show many items in few calls. */
export function manyItemsSuite(noun: string, startHarness: () => Promise<ItemVendor>): void {
  test.each([
    [500, 500, 10],
    [2_000, 4_000, 40],
  ])(`%i linked items among %i are read in at most %i calls, ${noun}`, async (linked, all, calls) => {
    const harness = await startHarness();
    const target = harness.openTarget(needsOf(harness.vendor), { create: false });
    const ids: string[] = [];
    for (let index = 0; index < all; index++) {
      const itemId = harness.put(ids.length % 2 === 0);
      if (index % (all / linked) === 0) ids.push(itemId);
    }
    const items = await readMany(target, ids);
    expect(harness.vendor.requests.length).toBeLessThanOrEqual(calls);
    await target.close();
    await harness.vendor.close();
    expect(harness.vendor.complaints).toEqual([]);
    expect(new Map(items.map(({ itemId, isCompleted }) => [itemId, isCompleted]))).toEqual(
      new Map(ids.map((itemId, index) => [itemId, index % 2 === 0])),
    );
  });

  test(`no answer that refuses to show linked items is an item that is missing, ${noun}`, async () => {
    const harness = await startHarness();
    const target = harness.openTarget(needsOf(harness.vendor), { create: false });
    const ids = Array.from({ length: 5 }, () => harness.put(true));
    for (const status of [400, 401, 403, 429, 500]) {
      harness.vendor.next({ status, body: {} });
      expect(await target.readItems?.read(ids, context())).toMatchObject({
        status: expect.stringMatching(/^(later|refused|disabled)$/),
      });
    }
    await target.close();
    await harness.vendor.close();
  });
}
