/** What faults before and after the commit leave behind, checked against the service's own commit log. */
import { afterEach, expect, test } from 'vitest';
import { type BehaviourOptions, FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { TEST_KEY } from '../support/harness/harness.ts';
import { people } from '../support/people.ts';
import { byLength } from '../support/property-runs.ts';

const CONTACTS = 120;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 550ms, concurrency: 16 }';

let harness: ContactsHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const always: readonly [string, BehaviourOptions][] = [
  ['reads and writes go wrong in every way', { faults: faults({ onlyWrites: false }) }],
  ['customers do not say which contact they came from', { faults: faults({}), customersCarryContactId: false }],
  ['importing is refused', { faults: faults({}), importBody: 'refused-404' }],
  ['lists lag behind', { faults: faults({}), readLagMs: 500 }],
];
/** With the long tests: these faults alone, which are among the others too. */
const rarely: readonly [string, BehaviourOptions][] = [
  ['commits come after the answer', { faults: faults({ kinds: ['late-commit'] }), customersCarryContactId: false }],
  ['every third write goes wrong', { faults: faults({ rate: 0.33, kinds: ['reset-after', 'reset-before'] }) }],
];

test.each(byLength({ few: always, all: [...always, ...rarely] }))(
  'every contact becomes one customer when %s',
  async (_name, behaviour) => {
    const opened = await openContactsHarness({ behaviour, account: QUICK });
    harness = opened;
    await harness.addContacts(people(CONTACTS));
    await expect.poll(() => visibleContacts(opened)).toBe(CONTACTS);
    const run = await harness.runSync();
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await harness.counts(run)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    const commits = [...(await harness.commits()).values()];
    expect(commits.reduce((sum, n) => sum + n, 0)).toBe(CONTACTS);
    const names = (await harness.customers()).map((customer) =>
      JSON.stringify([customer.full_name, customer.email, customer.phone_number]),
    );
    expect(new Set(names).size).toBe(CONTACTS);
  },
);

/** A service with read lag shows contacts shortly after they were made. */
async function visibleContacts({ service }: ContactsHarness): Promise<number> {
  const response = await fetch(`${service.url}/api/v1/contacts/getall?rows_per_page=1000`, {
    headers: { API_KEY: TEST_KEY },
  }).catch(
    () => undefined, // a fault; the request is repeated
  );
  // Safe: our own service answers a list in its envelope, or something that is not read further.
  return ((await response?.json().catch(() => ({}))) as { content?: unknown[] } | undefined)?.content?.length ?? 0;
}

function faults(more: Partial<NonNullable<BehaviourOptions['faults']>>): NonNullable<BehaviourOptions['faults']> {
  return { seed: 11, rate: 0.12, kinds: [...FAULT_KINDS], lateMs: 300, ...more };
}
