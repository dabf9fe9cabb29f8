/** The mapping and the filter of a contact sync, over several runs against the embedded service. */
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { exportedLines } from '../../src/operator/row-export.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { people } from '../support/people.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';
const PHONE = 'phone_number: { from: phone, transform: { phone: DE } }';
const NAME = 'full_name: { template: "{{ last_name }}{% if first_name %}, {{ first_name }}{% endif %}" }';
const contacts = (options: string) => `type: contacts, options: { ${options} }`;
/** They share links, as the runs of one sync whose settings change. */
const SYNCS = {
  plain: 'type: contacts',
  phones: contacts(`map: { ${PHONE} }`),
  renamed: contacts(`map: { ${PHONE}, ${NAME} }`),
  strict: contacts(
    'map: { phone_number: { from: phone, transform: { phone: DE }, strict: true }, email: { from: email, required: true } }',
  ),
  partly: contacts('map: { organization: none, gender: { value: unknown } }'),
  german: contacts('where: { country: [DE, AT], email: { present: true } }'),
  guarded: contacts(`approveAbove: 1, map: { ${NAME} }`),
};
const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '030 5550001', country: 'DE' };
const ben = { first_name: 'Ben', last_name: 'Óg', phone: '030 5550002', country: 'AT' };
const cho = {
  first_name: 'Cho',
  last_name: 'Kim',
  email: 'cho@example.com',
  phone: '+1 (213) 373-4253',
  country: 'US',
};

const harness = await openContactsHarness({ account: QUICK, syncs: SYNCS });
beforeEach(() => harness.reset());
afterAll(() => harness.close());

/** Runs a sync and expects exactly these counts and this many writes. */
async function syncTo(sync: keyof typeof SYNCS, counts: Record<string, number>, writes: number): Promise<Run> {
  const before = harness.writesSeen();
  const run = await harness.runSync({ sync });
  expect([run.status, run.error]).toEqual(['done', undefined]);
  expect(await harness.tally(run)).toEqual(counts);
  expect(harness.writesSeen() - before).toBe(writes);
  return run;
}

async function customersBy<T>(field: string): Promise<readonly T[]> {
  return (await harness.customers()).map((customer) => customer[field] as T).sort();
}

describe('a mapping', () => {
  test('makes the customers, and the second run writes nothing', async () => {
    await harness.addContacts([ann, ben, cho]);
    await syncTo('renamed', { in: 3, created: 3 }, 3);
    expect(await customersBy('full_name')).toEqual(['Kim, Cho', 'Lee, Ann', 'Óg, Ben']);
    expect(await customersBy('phone_number')).toEqual(['+12133734253', '+49305550001', '+49305550002']);
    await syncTo('renamed', { in: 3, unchanged: 3 }, 0);
  });

  test('that changes updates the customers whose fields change, and no others', async () => {
    await harness.addContacts([ann, ben, { ...cho, phone: '+12133734253' }]);
    await syncTo('plain', { in: 3, created: 3 }, 3);
    await syncTo('phones', { in: 3, updated: 2, unchanged: 1 }, 2);
    await syncTo('phones', { in: 3, unchanged: 3 }, 0);
    expect(await customersBy('phone_number')).toEqual(['+12133734253', '+49305550001', '+49305550002']);
    await syncTo('renamed', { in: 3, updated: 3 }, 3); // name and phone of Ben have changed, who has no other key
    await syncTo('plain', { in: 3, updated: 3 }, 3);
    expect(await customersBy('phone_number')).toEqual(['+12133734253', ben.phone, ann.phone].sort());
  });

  test('that changes more customers than approveAbove waits for approval', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo('plain', { in: 2, created: 2 }, 2);
    const run = await harness.runSync({ sync: 'guarded' });
    expect([run.status, run.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
    const exported: string[] = [];
    for await (const line of exportedLines(harness.database.pool, run, 'unknown', (command) => command))
      exported.push(line);
    expect(exported).toHaveLength(2);
    expect(exported[0]).toContain(
      ',unknown,AWAITS_APPROVAL,"It waits for approval, and nothing was sent. The service shows full_name Ann Lee instead of Lee, Ann. See what it would write',
    );
  });

  test('matches existing customers by the mapped values', async () => {
    await harness.addContacts([ben]);
    await harness.addCustomers([{ full_name: 'Óg, Ben', phone_number: '+49 30 5550002' }]);
    await syncTo('phones', { in: 1, existing: 1 }, 0);
  });

  test('writes nothing again if the service shows a value in another form', async () => {
    await harness.addContacts([ben]);
    await syncTo('phones', { in: 1, created: 1 }, 1);
    const [customer] = await harness.customers();
    await harness.call('customers.update', { ...customer, phone_number: '+49 (30) 555-0002', full_name: 'Ben Og' });
    await syncTo('phones', { in: 1, unchanged: 1 }, 0);
    await syncTo('phones', { in: 1, unchanged: 1 }, 0);
  });

  test('leaves a field that is mapped to none to the customer, and fills one that contacts do not have', async () => {
    await harness.addContacts([{ ...ann, organization: 'Lee & Co' }]);
    await harness.addCustomers([{ full_name: 'Ann', email: ann.email, organization: 'Lee Ltd' }]);
    await syncTo('partly', { in: 1, existing: 1 }, 0);
    await harness.editContact(1, { first_name: 'Anna' });
    await syncTo('partly', { in: 1, updated: 1 }, 1);
    expect(await harness.customers()).toMatchObject([
      { full_name: 'Anna Lee', organization: 'Lee Ltd', gender: 'unknown' },
    ]);
  });

  test('that fails for some contacts stops no others, and their customers stay as they are', async () => {
    await harness.addContacts([ann, { ...cho, email: '', phone: '+12133734253' }]);
    await syncTo('plain', { in: 2, created: 2 }, 2);
    await harness.editContact(1, { phone: 'ask Eve', last_name: 'Lee-Okafor' });
    await harness.addContacts([ben, { ...ann, first_name: 'Eve', last_name: 'Lee', email: 'eve@example.com' }]);
    const run = await syncTo('strict', { in: 4, invalid: 3, created: 1 }, 1);
    expect((await harness.rows(run)).filter(({ verdict }) => verdict === 'invalid')).toMatchObject([
      { reason: 'MAP_NOT_A_PHONE', recordId: null },
      { reason: 'MAP_EMPTY', recordId: null },
      { reason: 'MAP_EMPTY', recordId: null },
    ]);
    expect(await customersBy('full_name')).toEqual(['Ann Lee', 'Cho Kim', 'Eve Lee']);
    await harness.editContact(1, { phone: '030 5550009' });
    await syncTo('strict', { in: 4, invalid: 2, updated: 1, unchanged: 1 }, 1);
    expect(await customersBy('full_name')).toEqual(['Ann Lee-Okafor', 'Cho Kim', 'Eve Lee']);
    const chos = (await harness.customers()).find(({ full_name }) => full_name === 'Cho Kim');
    await harness.remove('customer', Number(chos?.id));
    await syncTo('strict', { in: 4, invalid: 2, unchanged: 2 }, 0);
  });

  test('shows in a dry run which fields it would change', async () => {
    await harness.addContacts([ann]);
    await syncTo('plain', { in: 1, created: 1 }, 1);
    const run = await harness.runSync({ sync: 'phones', dryRun: true });
    expect(await harness.rows(run)).toMatchObject([
      {
        verdict: 'updated',
        reason: 'PLANNED',
        facts: { changes: [{ field: 'phone_number', is: '030 5550001', expected: '+49305550001' }] },
      },
    ]);
  });
});

describe('a filter', () => {
  test('leaves contacts out, and says how many', async () => {
    await harness.addContacts([ann, ben, cho]);
    const run = await syncTo('german', { in: 1, created: 1 }, 1);
    expect([run.scan, run.leftOut]).toEqual(['proven', { contacts: 2, linked: 0 }]);
    expect((await syncTo('german', { in: 1, unchanged: 1 }, 0)).leftOut).toEqual({ contacts: 2, linked: 0 });
  });

  test('leaves the customer of a contact that it no longer selects as it is, until it selects the contact again', async () => {
    await harness.addContacts([ann, cho]);
    await syncTo('plain', { in: 2, created: 2 }, 2);
    await harness.editContact(1, { country: 'FR', first_name: 'Anne' });
    const run = await syncTo('german', {}, 0);
    expect(run.leftOut).toEqual({ contacts: 2, linked: 2 });
    const [customer] = await harness.customers();
    await harness.remove('customer', Number(customer?.id)); // a person deletes the customer of a contact left out
    await syncTo('german', {}, 0);
    await harness.editContact(2, { country: 'DE', first_name: 'Choe' });
    await syncTo('german', { in: 1, updated: 1 }, 1);
    expect(await customersBy('full_name')).toEqual(['Choe Kim']);
  });

  test('lets a contact that it selects have the customer of one that it leaves out', async () => {
    await harness.addContacts([ann, { ...cho, country: 'DE' }]);
    await syncTo('german', { in: 2, created: 2 }, 2);
    await harness.editContact(1, { country: 'FR' });
    await harness.addContacts([ann]);
    await syncTo('german', { in: 2, existing: 1, unchanged: 1 }, 0);
    expect(await harness.customers()).toHaveLength(2);
  });
});

test('a contact that was sent with another mapping, with unknown outcome, is not sent again', async () => {
  const slow = await openContactsHarness({
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 400ms, concurrency: 4 }',
    behaviour: { latencyMs: 100 },
    syncs: { before: contacts('importWith: create'), after: contacts(`map: { ${PHONE}, ${NAME} }`) },
  });
  onTestFinished(() => slow.close());
  await slow.addContacts(
    people(16).map(({ first_name, last_name }, i) => ({ first_name, last_name, phone: `030 55500${i + 10}` })),
  );
  const run = await slow.beginSync({ sync: 'before' });
  await expect.poll(() => slow.service.traffic.total('customers.create'), { interval: 1 }).toBeGreaterThan(0);
  await endRun(slow.database.pool, run.id, 'cancelled');
  const next = await slow.runSync({ sync: 'after' });
  const { in: sum, review, created } = await slow.counts(next);
  expect([sum, review + created, review > 0]).toEqual([16, 16, true]);
  expect(await slow.customers()).toHaveLength(16);
  const reasons = new Set(
    (await slow.rows(next)).flatMap(({ verdict, reason }) => (verdict === 'review' ? reason : [])),
  );
  expect([...reasons]).toEqual(['NOT_IN_LIST']);
});

test('a process that is killed while it creates mapped customers creates each once', async () => {
  const slow = await openContactsHarness({
    account: 'budget: { requests: 100, per: 1s, burst: 5, timeout: 1s, settle: 400ms, concurrency: 4 }',
    syncs: { contacts: contacts(`map: { ${PHONE} }, where: { organization: { not: Example Ltd } }`) },
  });
  onTestFinished(() => slow.close());
  await slow.addContacts(people(40));
  const child = slow.startProgram('test/support/sync-program');
  await expect.poll(() => slow.service.traffic.total('customers.create'), { interval: 5 }).toBeGreaterThan(5);
  child.kill('SIGKILL');
  const [{ id = '' } = {}] = (await slow.database.pool.query<{ id: string }>('select id from ledger.runs')).rows;
  slow.startProgram('test/support/sync-program');
  const done = await ended(slow.database, id);
  const selected = people(40).filter(({ organization }) => organization !== 'Example Ltd').length;
  expect([done.status, done.leftOut]).toEqual(['done', { contacts: 40 - selected, linked: 0 }]);
  expect(await slow.counts(done)).toMatchObject({ in: selected, created: selected });
  expect([...(await slow.commits()).values()].reduce((sum, n) => sum + n, 0)).toBe(selected);
});
