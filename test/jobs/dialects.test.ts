/** The sync against services that answer otherwise where the contract is silent, and whose lists move while it reads. */
import { expect, onTestFinished, test } from 'vitest';
import type { ScanProof } from '../../src/engine/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { people } from '../support/people.ts';
import { openSyncBed, type SyncBed } from '../support/sync-bed.ts';

const CONTACTS = 17;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';

async function bedOf(behaviour: BehaviourOptions, rowsPerPage: number): Promise<SyncBed> {
  const bed = await openSyncBed({ account: QUICK, behaviour, options: `{ rowsPerPage: ${rowsPerPage} }` });
  onTestFinished(() => bed.close());
  return bed;
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
    const bed = await bedOf(behaviour, 10);
    await bed.addContacts(people(CONTACTS));
    const first = await bed.runSync();
    expect([first.status, first.error, first.scan]).toEqual(['done', undefined, proof]);
    expect(await bed.counts(first)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    await bed.editContact(3, { first_name: 'Somebody', last_name: 'Else' });
    const second = await bed.runSync();
    expect(await bed.counts(second)).toMatchObject({ in: CONTACTS, unchanged: CONTACTS - 1, updated: 1 });
    const customers = await bed.customers();
    expect(customers).toHaveLength(CONTACTS);
    expect(customers.filter(({ full_name }) => full_name === 'Somebody Else')).toHaveLength(1);
  },
);

test('another order at every read: what was seen has one customer each, and the run says that it may not be all', async () => {
  const bed = await bedOf({ order: 'unstable' }, 10);
  await bed.addContacts(people(CONTACTS));
  const [first, second] = [await bed.runSync(), await bed.runSync()];
  for (const run of [first, second]) {
    expect([run.status, run.scan === 'proven']).toEqual(['done', false]);
    expect(run.notes).toEqual(expect.arrayContaining([expect.stringContaining('no stable order')]));
  }
  expect([...(await bed.commits()).values()].every((n) => n === 1)).toBe(true);
});

test('contacts that come and go while it runs: those that stay have one customer each, and nobody has two', async () => {
  const bed = await bedOf({ latencyMs: 3 }, 10);
  await bed.addContacts(people(CONTACTS));
  await bed.runSync(); // importing is known to work: one that has gone is refused, not created
  await bed.addContacts(people(40, 100));
  const churn = { isOver: false };
  const churning = comeAndGo(bed, churn);
  const run = await bed.runSync();
  churn.isOver = true;
  await churning;
  const { in: sum, ...verdicts } = await bed.counts(run);
  expect([run.status, run.scan]).toEqual(['done', 'proven']);
  expect(Object.values(verdicts).reduce((a, b) => a + b)).toBe(sum);
  const last = await bed.runSync();
  expect(await bed.counts(last)).toMatchObject({ review: 0, rejected: 0, unknown: 0 });
  const commits = await bed.commits();
  expect([...commits.values()].every((n) => n === 1)).toBe(true);
  const there = await bed.database.pool.query<{ id: number }>('select id from service.contacts');
  expect(there.rows.filter(({ id }) => !commits.has(String(id)))).toEqual([]);
});

/** Deletes contacts from the beginning of the list, where it moves all that follow, and adds others at its end. */
async function comeAndGo(bed: SyncBed, churn: { readonly isOver: boolean }): Promise<void> {
  for (let id = 1; id < 40 && !churn.isOver; id += 2) {
    await bed.remove('contact', id);
    await bed.addContacts(people(1, 1_000 + id));
  }
}
