/** What faults before and after the commit leave behind, held against the service's own commit log. */
import { afterEach, expect, test } from 'vitest';
import { type BehaviourOptions, FAULT_KINDS } from '../../src/service/behaviour.ts';
import { people } from '../support/people.ts';
import { openSyncBed, type SyncBed, TEST_KEY } from '../support/sync-bed.ts';

const CONTACTS = 120;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 550ms, concurrency: 16 }';

let bed: SyncBed | undefined;
afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

const cases: readonly [string, BehaviourOptions][] = [
  ['reads and writes go wrong in every way', { faults: faults({ onlyWrites: false }) }],
  ['customers do not say which contact they came from', { faults: faults({}), customersCarryContactId: false }],
  ['commits come after the answer', { faults: faults({ kinds: ['late-commit'] }), customersCarryContactId: false }],
  ['importing is refused', { faults: faults({}), importBody: 'refused-404' }],
  ['every third write goes wrong', { faults: faults({ rate: 0.33, kinds: ['reset-after', 'reset-before'] }) }],
  ['lists lag behind', { faults: faults({}), readLagMs: 500 }],
];

test.each(cases)('every contact becomes one customer when %s', async (_name, behaviour) => {
  const opened = await openSyncBed({ behaviour, account: QUICK });
  bed = opened;
  await bed.addContacts(people(CONTACTS));
  await expect.poll(() => visibleContacts(opened), { timeout: 5_000 }).toBe(CONTACTS);
  const run = await bed.runSync();
  expect([run.status, run.error]).toEqual(['done', undefined]);
  expect(await bed.counts(run)).toMatchObject({ in: CONTACTS, created: CONTACTS });
  const commits = [...(await bed.commits()).values()];
  expect(commits.reduce((sum, n) => sum + n, 0)).toBe(CONTACTS);
  const names = (await bed.customers()).map((customer) =>
    JSON.stringify([customer.full_name, customer.email, customer.phone_number]),
  );
  expect(new Set(names).size).toBe(CONTACTS);
});

/** A service that lags shows the contacts a little later than they were made. */
async function visibleContacts({ service }: SyncBed): Promise<number> {
  const response = await fetch(`${service.url}/api/v1/contacts/getall?rows_per_page=1000`, {
    headers: { API_KEY: TEST_KEY },
  }).catch(
    () => undefined, // a fault; asked again
  );
  // Safe: our own service answers a list in its envelope, or something that is not read further.
  return ((await response?.json().catch(() => ({}))) as { content?: unknown[] } | undefined)?.content?.length ?? 0;
}

function faults(more: Partial<NonNullable<BehaviourOptions['faults']>>): NonNullable<BehaviourOptions['faults']> {
  return { seed: 11, rate: 0.12, kinds: [...FAULT_KINDS], lateMs: 300, ...more };
}
