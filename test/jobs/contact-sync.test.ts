/** The life of contacts and customers over several runs, against the embedded service. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, resumeRun } from '../../src/engine/ledger/run-status.ts';
import { type NewRun, type Run, startRun } from '../../src/engine/ledger/runs.ts';
import { planRows } from '../../src/engine/ledger/transitions.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { CONTACT_RUN, type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';

/** The notes, except that a contact first seen moments ago may be too new for the list. */
const settled = ({ notes }: { readonly notes: readonly string[] }) =>
  notes.filter((note) => !note.startsWith('waited to see'));

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';
const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+1 555 010 0001' };
const ben = { first_name: 'Ben', last_name: 'Óg', phone: '+353 1 555 0002' };
const cho = { first_name: 'Cho', last_name: '', organization: 'Cho & Sons' };

describe('a sync that runs repeatedly', () => {
  let harness: ContactsHarness;
  beforeAll(async () => {
    harness = await openContactsHarness({ account: QUICK });
  });
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());

  /** Runs the sync and expects exactly these counts and this many writes. */
  async function syncTo(counts: Record<string, number>, writes: number): Promise<Run> {
    const before = harness.writesSeen();
    const run = await harness.runSync();
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await harness.tally(run)).toEqual(counts);
    expect(harness.writesSeen() - before).toBe(writes);
    return run;
  }

  test('imports every contact once, and the second time writes nothing', async () => {
    await harness.addContacts([ann, ben, cho]);
    const first = await syncTo({ in: 3, created: 3 }, 3);
    expect(first.scan).toBe('proven');
    expect((await harness.customers()).map((customer) => customer.full_name)).toEqual(['Ann Lee', 'Ben Óg', 'Cho']);
    const second = await syncTo({ in: 3, unchanged: 3 }, 0);
    expect(second.calls).toBeLessThanOrEqual(5);
    expect(await leftInIndex(harness)).toBe(0);
  });

  test('notes contacts that were imported and are gone, and new contacts that are alike; neither changes what is done', async () => {
    await harness.addContacts([ann, ben, cho, cho]);
    const first = await syncTo({ in: 4, created: 4 }, 4);
    expect(first.notes).toEqual([
      '2 new contacts have the same name, e-mail and phone as another new contact, and each becomes a customer of its own: contacts 3 and 4',
    ]);
    await harness.database.pool.query('delete from service.contacts where id = 2');
    const second = await syncTo({ in: 3, unchanged: 3 }, 0);
    expect(settled(second)).toEqual([
      expect.stringMatching(
        /^1 imported contact is gone from the list, and its customer stays unchanged: contact 2 \(customer \d\)$/,
      ),
    ]);
    expect((await syncTo({ in: 3, unchanged: 3 }, 0)).notes).toEqual([]);
    await harness.database.pool.query('delete from service.contacts where id = 1');
    expect(settled(await syncTo({ in: 2, unchanged: 2 }, 0))).toEqual([
      expect.stringContaining('1 imported contact is gone'),
    ]);
    expect(await harness.customers()).toHaveLength(4);
  });

  test('notes a gone contact again after it came back, and each dry run notes it', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    const notes = async (how = {}) => settled(await harness.runSync(how)).map((note) => note.replace(/ from.*/, ''));
    const gone = ['1 imported contact is gone'];
    const { pool } = harness.database;
    const move = (to: string) =>
      pool.query(
        'update service.contacts set tenant_id = (select id from service.tenants where name = $1) where id = 1',
        [to],
      );
    await pool.query(`insert into service.tenants (name) values ('elsewhere') on conflict do nothing`);
    const home = await pool.query('select t.name from service.contacts c join service.tenants t on t.id = c.tenant_id');
    await move('elsewhere');
    expect([await notes({ dryRun: true }), await notes({ dryRun: true }), await notes(), await notes()]).toEqual([
      gone,
      gone,
      gone,
      [],
    ]);
    await move(home.rows[0]?.name);
    expect(await notes()).toEqual([]);
    await move('elsewhere');
    expect(await notes()).toEqual(gone);
  });

  test('does not write back a phone that the service shows in part only', async () => {
    await harness.addContacts([{ ...ann, phone: '' }]);
    await harness.addCustomers([{ full_name: 'Ann Lee', email: ann.email, phone_number: '+1 *** *** 0001' }]);
    await syncTo({ in: 1, existing: 1 }, 0);
    await harness.editContact(1, { last_name: 'Lee-Okafor' });
    const run = await syncTo({ in: 1, review: 1 }, 0);
    expect(await harness.rows(run)).toMatchObject([
      { reason: 'MASKED', detail: expect.stringContaining('in part only: +1 *** *** 0001.') },
    ]);
  });

  test('counts its calls exactly while no process is killed', async () => {
    await harness.addContacts([ann]);
    await harness.runSync();
    await harness.addContacts([ben]);
    const before = harness.service.traffic.total();
    const run = await harness.runSync();
    expect([run.calls, run.callsMissed]).toEqual([harness.service.traffic.total() - before, false]);
  });

  test('updates the customer of a changed contact with one update', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await harness.editContact(1, { last_name: 'Lee-Okafor', phone: '' });
    await syncTo({ in: 2, updated: 1, unchanged: 1 }, 1);
    const [customer] = await harness.customers();
    expect(customer).toMatchObject({ full_name: 'Ann Lee-Okafor', email: ann.email, phone_number: '' });
    await syncTo({ in: 2, unchanged: 2 }, 0);
  });

  test('links an existing customer, and updates it when its contact changes', async () => {
    await harness.addContacts([ann]);
    await harness.addCustomers([{ full_name: 'Annie', email: ann.email, gender: 'female' }]);
    await syncTo({ in: 1, existing: 1 }, 0);
    await syncTo({ in: 1, unchanged: 1 }, 0);
    await harness.editContact(1, { organization: 'Lee & Co' });
    await syncTo({ in: 1, updated: 1 }, 1);
    expect(await harness.customers()).toMatchObject([
      { full_name: 'Ann Lee', gender: 'female', organization: 'Lee & Co' },
    ]);
  });

  test('leaves a customer deleted by a person to a person, every night', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    const anns = (await harness.customers()).find(({ full_name }) => full_name === 'Ann Lee');
    await harness.remove('customer', Number(anns?.id));
    await harness.editContact(1, { first_name: 'Annie' });
    for (const _night of [1, 2]) {
      const run = await syncTo({ in: 2, unchanged: 1, review: 1 }, 0);
      expect(await harness.rows(run)).toMatchObject([{ reason: 'CUSTOMER_GONE', recordId: String(anns?.id) }]);
    }
    expect(await harness.customers()).toHaveLength(1);
  });

  test('says of a contact whose customer is gone that it is another person now', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await harness.remove('customer', Number((await harness.customers())[0]?.id));
    await harness.editContact(1, { first_name: 'Zoe', last_name: 'Roy', email: 'zoe@example.com', phone: '' });
    const run = await syncTo({ in: 2, unchanged: 1, review: 1 }, 0);
    const facts = { was: ['ann lee', ann.email, '15550100001'], is: ['zoe roy', 'zoe@example.com'] };
    expect(await harness.rows(run)).toMatchObject([{ reason: 'CUSTOMER_GONE', facts }]);
  });

  test('imports a new contact, and no longer reports a removed one', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await harness.addContacts([cho]);
    await syncTo({ in: 3, created: 1, unchanged: 2 }, 1);
    await harness.remove('contact', 2);
    await syncTo({ in: 2, unchanged: 2 }, 0);
    expect(await harness.customers()).toHaveLength(3);
  });

  test('moves the customer of a contact that was deleted and made again to the new contact', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await harness.remove('contact', 1);
    await harness.addContacts([ann]);
    await syncTo({ in: 2, existing: 1, unchanged: 1 }, 0);
    await syncTo({ in: 2, unchanged: 2 }, 0);
    expect(await harness.customers()).toHaveLength(2);
  });

  test('a dry run plans everything, writes nothing and keeps nothing', async () => {
    await harness.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await harness.editContact(1, { first_name: 'Annie' });
    await harness.addContacts([cho, { first_name: 'Dot', email: 'dot@example.com' }]);
    await harness.addCustomers([{ full_name: 'Dot', email: 'dot@example.com' }]);
    const before = await kept(harness);
    const run = await harness.runSync({ dryRun: true });
    expect([run.status, await harness.tally(run)]).toEqual([
      'done',
      { in: 4, created: 1, updated: 1, unchanged: 1, existing: 1 },
    ]);
    const planned = (await harness.rows(run)).filter(({ reason }) => reason === 'PLANNED');
    expect(planned.map(({ verdict, label }) => [verdict, label])).toEqual([
      ['updated', 'Annie Lee <ann@example.com>'],
      ['created', 'Cho'],
    ]);
    expect(await kept(harness)).toEqual(before);
    await syncTo({ in: 4, created: 1, updated: 1, unchanged: 1, existing: 1 }, 2);
  });

  test('a failed run is not resumed after a newer run has done its work', async () => {
    await harness.addContacts([ann, ben]);
    const failed = await inTransaction(harness.database.pool, async (db) => {
      const begun = await startRun(db, { ...RUN, phase: 'import-customers' });
      await addRows(db, begun.run.id, [{ n: 1, label: 'Ann', fields: {} }]);
      await planRows(db, begun.run.id, {
        sql: `select 1 as n, 'import' as action, null as record_id, null::jsonb as fields, null::jsonb as was`,
      });
      await endRun(db, begun.run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
      return begun.run;
    });
    await syncTo({ in: 2, created: 2 }, 2);
    expect(await resumeRun(harness.database.pool, failed.id)).toBe(false);
  });
});

describe('the settings', () => {
  test('can make it create customers: nothing is imported', async () => {
    const harness = await openContactsHarness({
      account: QUICK,
      syncs: { contacts: 'job: contacts, options: { importWith: create }' },
    });
    onTestFinished(() => harness.close());
    await harness.addContacts([ann, ben, cho]);
    expect(await harness.tally(await harness.runSync())).toEqual({ in: 3, created: 3 });
    expect([...(await operationsIn(harness))]).toEqual(['customers.create']);
    expect(await harness.tally(await harness.runSync())).toEqual({ in: 3, unchanged: 3 });
  });

  test('can make it ignore changes: nothing is updated', async () => {
    const harness = await openContactsHarness({
      account: QUICK,
      syncs: { contacts: 'job: contacts, options: { onChange: ignore }' },
    });
    onTestFinished(() => harness.close());
    await harness.addContacts([ann]);
    await harness.runSync();
    await harness.editContact(1, { first_name: 'Annie' });
    const run = await harness.runSync();
    expect(await harness.rows(run)).toMatchObject([{ verdict: 'unchanged', reason: 'CHANGE_IGNORED' }]);
    expect(await harness.customers()).toMatchObject([{ full_name: 'Ann Lee' }]);
  });
});

const RUN: NewRun = {
  ...CONTACT_RUN,
  options: { rowsPerPage: 500, importWith: 'auto', onChange: 'update', matchBy: ['email', 'phone'] },
  phase: 'scan-contacts',
};

/** The operations that wrote customers, by the service's commit log. */
async function operationsIn({ database }: ContactsHarness): Promise<ReadonlySet<string>> {
  const found = await database.pool.query<{ operation: string }>(
    `select distinct operation from service.commits where kind = 'customer'`,
  );
  return new Set(found.rows.map(({ operation }) => operation));
}

/** Everything that a run can leave behind except the run itself. */
async function kept({ database }: ContactsHarness): Promise<unknown> {
  const tables = ['ledger.links', 'service.customers', 'service.contacts'];
  return Promise.all(tables.map(async (table) => (await database.pool.query(`select * from ${table}`)).rows));
}

async function leftInIndex({ database }: ContactsHarness): Promise<number | null> {
  return (await database.pool.query('select 1 from ledger.records')).rowCount;
}
