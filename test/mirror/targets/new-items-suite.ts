/** Items that people create at a target, for all vendors whose items have fields. */
import { expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { markerUuidOf } from '../../../src/mirror/targets/items/marker.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import type { DetailRun } from './detail-run.ts';

export function newItemsSuite(at: DetailRun): void {
  const { created } = at;

  test('that a person created is shown as new while it is open; those of Lockstep, and older ones, are not', async () => {
    const itemId = at.harness.put(false);
    at.harness.put(true);
    const own = await created({});
    const target = at.open({ create: true, createTasks: true });
    const since = async (time: string) => {
      const read = await target.newItems?.({ baseline: new Date(time), since: new Date('2026-02-28') }, context());
      return read?.status === 'read' ? read.items : read;
    };
    const mine = { itemId: own, lastingId: markerUuidOf(deliveryOf()) };
    expect(await since('2026-02-01T12:00:00Z')).toMatchObject([
      { itemId, title: 'Old', text: '', createdAt: new Date('2026-02-01T12:00:00Z') },
      ...(at.forms.showsOwn === true ? [mine] : []),
    ]);
    expect(await since('2026-02-01T12:00:01Z')).toEqual([]);
    expect(target.itemsIn?.(`Seen there\n\n${target.nameOf?.(itemId)}\n\nlockstep-0123456789ab`)).toEqual([itemId]);
  });

  test('is shown as new only if it has the labels of the filter, with the time at the target', async () => {
    at.harness.put(false);
    const itemId = at.harness.put(false, ['mirror', 'urgent']);
    const settings = { create: true, createTasks: { labels: ['mirror'] } };
    const target = at.open(settings);
    const date = new Date('2031-01-01T00:00:00Z');
    at.harness.vendor.serverTime = date;
    // It was created long before it got the last change, which may be the label.
    const times = { baseline: new Date('2026-02-01T12:00:00Z'), since: new Date('2026-02-28T11:50:00Z') };
    expect(await target.newItems?.(times, context())).toMatchObject({ items: [{ itemId }], at: date });
    expect(await target.newItems?.(undefined, context())).toMatchObject({ items: [], at: date });
  });

  test('is shown as new among thousands of changes, though items change again while they are read', async () => {
    const target = at.open({ create: true, createTasks: true });
    const begun = new Date('2026-02-01T12:00:00Z');
    const minutes = (count: number) => new Date(begun.getTime() + count * 60_000);
    // The first two and a half pages, and two and a half in the middle, have one time of change each.
    const timeOf = (n: number) => (n < 250 ? 1 : n >= 1500 && n < 1750 ? 1500 : n);
    const ids = Array.from({ length: 3_000 }, (_, n) => {
      const itemId = at.harness.put(false);
      at.harness.touch(itemId, minutes(timeOf(n)));
      return itemId;
    });
    let lists = 0;
    at.harness.vendor.serverTime = minutes(10_000);
    at.harness.vendor.before = () => {
      // Each time, an item that was shown leaves its place, which moves the others to earlier pages.
      if (++lists % 2 === 0 && lists < 60) at.harness.touch(ids[(lists / 2 - 1) * 55] ?? '', minutes(5_000 + lists));
    };
    const shown = new Set<string>();
    let since: Date | undefined = begun;
    let readings = 0;
    for (; since !== undefined && readings < 9; readings++) {
      const read: Awaited<ReturnType<NonNullable<Target['newItems']>>> | undefined = await target.newItems?.(
        { baseline: new Date(0), since },
        context(),
      );
      if (read?.status !== 'read') throw new Error(JSON.stringify(read));
      for (const { itemId } of read.items) shown.add(itemId);
      since = read.until;
    }
    expect(ids.filter((itemId) => !shown.has(itemId))).toEqual([]);
    expect([since, shown.size]).toEqual([undefined, ids.length]);
    if (at.forms.sortsChanges !== false) expect(readings).toBeGreaterThan(1);
  });
}
