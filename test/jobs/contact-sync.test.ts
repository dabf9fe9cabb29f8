import { afterEach, expect, test } from 'vitest';
import { type BedOptions, openSyncBed, type SyncBed } from '../support/sync-bed.ts';

let bed: SyncBed | undefined;
afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function bedWith(contacts: readonly Record<string, unknown>[], options: BedOptions = {}): Promise<SyncBed> {
  bed = await openSyncBed(options);
  await bed.addContacts(contacts);
  return bed;
}

const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+1 555 010 0001' };
const ben = { first_name: 'Ben', last_name: 'Óg', phone: '+353 1 555 0002' };
const cho = { first_name: 'Cho', last_name: '', organization: 'Cho & Sons' };

test('every contact is imported once, and a second run writes nothing', async () => {
  const { runSync, counts, customers } = await bedWith([ann, ben, cho]);
  const first = await runSync();
  expect([first.status, first.scan, first.error]).toEqual(['done', 'proven', undefined]);
  const firstCounts = await counts(first);
  expect(firstCounts).toMatchObject({ in: 3, created: 3 });
  expect((await customers()).map((customer) => customer.full_name)).toEqual(['Ann Lee', 'Ben Óg', 'Cho']);
  const second = await runSync();
  const secondCounts = await counts(second);
  expect(secondCounts).toMatchObject({ in: 3, unchanged: 3 });
  expect(second.calls).toBeLessThanOrEqual(5);
  expect(await customers()).toHaveLength(3);
});
