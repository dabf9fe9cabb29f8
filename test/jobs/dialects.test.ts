/** The sync against services that fill the contract's gaps in other ways, and whose lists change while they are read. */
import { expect, onTestFinished, test } from 'vitest';
import type { ScanProof } from '../../src/engine/ledger/runs.ts';
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

const cases: readonly [string, BehaviourOptions, ScanProof][] = [
  ['pages capped at seven', { maxRowsPerPage: 7, order: 'newest' }, 'proven'],
  [
    'ids as text under a name of each kind',
    { idType: 'string', idField: 'kind_id', createAnswers: 'nothing' },
    'proven',
  ],
  ['lists deep inside', { listShape: { path: 'content.data.items' }, createAnswers: 'id' }, 'proven'],
  ['every page the first one, and whole', { ignorePaging: true, ignoreRowsPerPage: true }, 'weak'],
  ['page sizes ignored', { ignoreRowsPerPage: true, defaultRowsPerPage: 5 }, 'weak'],
  [
    'lists bare, and customers that do not say which contact they were',
    { listShape: 'bare', customersCarryContactId: false, prefixes: ['/v1'] },
    'proven',
  ],
];

test.each(cases)(
  '%s: each contact once, nothing the next night, and updates arrive',
  async (_name, behaviour, proof) => {
    const harness = await harnessWith(behaviour, 10);
    await harness.addContacts(people(CONTACTS));
    const first = await harness.runSync();
    expect([first.status, first.error, first.scan]).toEqual(['done', undefined, proof]);
    expect(await harness.counts(first)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    await harness.editContact(3, { first_name: 'Another', last_name: 'Person' });
    const second = await harness.runSync();
    expect(await harness.counts(second)).toMatchObject({ in: CONTACTS, unchanged: CONTACTS - 1, updated: 1 });
    const customers = await harness.customers();
    expect(customers).toHaveLength(CONTACTS);
    expect(customers.filter(({ full_name }) => full_name === 'Another Person')).toHaveLength(1);
  },
);

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
