/** The sync against services whose lists change while they are read. dialect-combinations.test.ts has the other ways. */
import { expect, onTestFinished, test } from 'vitest';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { people } from '../support/people.ts';

const CONTACTS = 17;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';

async function harnessWith(behaviour: BehaviourOptions, rowsPerPage: number): Promise<ContactsHarness> {
  const harness = await openContactsHarness({
    account: QUICK,
    behaviour,
    syncs: { contacts: `job: contacts, options: { rowsPerPage: ${rowsPerPage} }` },
  });
  onTestFinished(() => harness.close());
  return harness;
}

test('another order at every read: each contact seen has one customer, and the run says that some may be missing', async () => {
  const harness = await harnessWith({ order: 'unstable' }, 10);
  await harness.addContacts(people(CONTACTS));
  const [first, second] = [await harness.runSync(), await harness.runSync()];
  for (const run of [first, second]) {
    expect([run.status, run.scan === 'proven']).toEqual(['done', false]);
    expect(run.notes).toEqual(expect.arrayContaining([expect.stringContaining('no stable order')]));
  }
  expect([...(await harness.commits()).values()].every((n) => n === 1)).toBe(true);
});

test('contacts added and removed during a run: each remaining contact has one customer, and none has two', async () => {
  const harness = await harnessWith({ latencyMs: 3 }, 10);
  await harness.addContacts(people(CONTACTS));
  await harness.runSync(); // importing is known to work: a contact that is gone is refused, not created
  await harness.addContacts(people(40, 100));
  const churn = { isOver: false };
  const churning = comeAndGo(harness, churn);
  const run = await harness.runSync();
  churn.isOver = true;
  await churning;
  const { in: sum, ...verdicts } = await harness.counts(run);
  expect([run.status, run.scan]).toEqual(['done', 'proven']);
  expect(Object.values(verdicts).reduce((a, b) => a + b)).toBe(sum);
  const last = await harness.runSync();
  expect(await harness.counts(last)).toMatchObject({ review: 0, rejected: 0, unknown: 0 });
  const commits = await harness.commits();
  expect([...commits.values()].every((n) => n === 1)).toBe(true);
  const there = await harness.database.pool.query<{ id: number }>('select id from service.contacts');
  expect(there.rows.filter(({ id }) => !commits.has(String(id)))).toEqual([]);
});

/** Deletes contacts from the beginning of the list, which moves all that follow, and adds others at its end. */
async function comeAndGo(harness: ContactsHarness, churn: { readonly isOver: boolean }): Promise<void> {
  for (let id = 1; id < 40 && !churn.isOver; id += 2) {
    await harness.remove('contact', id);
    await harness.addContacts(people(1, 1_000 + id));
  }
}
