/** The life of contacts and customers over several runs, against the embedded service. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../src/database/transaction.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, type NewRun, type Run, resumeRun, startRun } from '../../src/engine/ledger/runs.ts';
import { planRows } from '../../src/engine/ledger/transitions.ts';
import { openSyncBed, type SyncBed } from '../support/sync-bed.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';
const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '+1 555 010 0001' };
const ben = { first_name: 'Ben', last_name: 'Óg', phone: '+353 1 555 0002' };
const cho = { first_name: 'Cho', last_name: '', organization: 'Cho & Sons' };

describe('a sync that runs again and again', () => {
  let bed: SyncBed;
  beforeAll(async () => {
    bed = await openSyncBed({ account: QUICK });
  });
  beforeEach(() => bed.reset());
  afterAll(() => bed.close());

  /** Runs the sync, which has to come to these counts and no others, with so many writes. */
  async function syncTo(counts: Record<string, number>, writes: number): Promise<Run> {
    const before = writesSeen(bed);
    const run = await bed.runSync();
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(noZeros(await bed.counts(run))).toEqual(counts);
    expect(writesSeen(bed) - before).toBe(writes);
    return run;
  }

  test('imports every contact once, and the second time writes nothing', async () => {
    await bed.addContacts([ann, ben, cho]);
    const first = await syncTo({ in: 3, created: 3 }, 3);
    expect(first.scan).toBe('proven');
    expect((await bed.customers()).map((customer) => customer.full_name)).toEqual(['Ann Lee', 'Ben Óg', 'Cho']);
    const second = await syncTo({ in: 3, unchanged: 3 }, 0);
    expect(second.calls).toBeLessThanOrEqual(5);
    expect(await leftInIndex(bed)).toBe(0);
  });

  test('brings one changed contact’s customer in line with one update', async () => {
    await bed.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await bed.editContact(1, { last_name: 'Lee-Okafor', phone: '' });
    await syncTo({ in: 2, updated: 1, unchanged: 1 }, 1);
    const [customer] = await bed.customers();
    expect(customer).toMatchObject({ full_name: 'Ann Lee-Okafor', email: ann.email, phone_number: '' });
    await syncTo({ in: 2, unchanged: 2 }, 0);
  });

  test('links a customer that was there, and updates it when its contact changes', async () => {
    await bed.addContacts([ann]);
    await bed.addCustomers([{ full_name: 'Annie', email: ann.email, gender: 'female' }]);
    await syncTo({ in: 1, existing: 1 }, 0);
    await syncTo({ in: 1, unchanged: 1 }, 0);
    await bed.editContact(1, { organization: 'Lee & Co' });
    await syncTo({ in: 1, updated: 1 }, 1);
    expect(await bed.customers()).toMatchObject([{ full_name: 'Ann Lee', gender: 'female', organization: 'Lee & Co' }]);
  });

  test('leaves a customer that a person has deleted to a person, night after night', async () => {
    await bed.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    const anns = (await bed.customers()).find(({ full_name }) => full_name === 'Ann Lee');
    await bed.remove('customer', Number(anns?.id));
    await bed.editContact(1, { first_name: 'Annie' });
    for (const _night of [1, 2]) {
      const run = await syncTo({ in: 2, unchanged: 1, review: 1 }, 0);
      expect(await bed.rows(run)).toMatchObject([{ reason: 'CUSTOMER_GONE', recordId: String(anns?.id) }]);
    }
    expect(await bed.customers()).toHaveLength(1);
  });

  test('imports a contact that has come, and says no more of one that has gone', async () => {
    await bed.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await bed.addContacts([cho]);
    await syncTo({ in: 3, created: 1, unchanged: 2 }, 1);
    await bed.remove('contact', 2);
    await syncTo({ in: 2, unchanged: 2 }, 0);
    expect(await bed.customers()).toHaveLength(3);
  });

  test('gives the customer of a contact that was deleted and made again to the new one', async () => {
    await bed.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await bed.remove('contact', 1);
    await bed.addContacts([ann]);
    await syncTo({ in: 2, existing: 1, unchanged: 1 }, 0);
    await syncTo({ in: 2, unchanged: 2 }, 0);
    expect(await bed.customers()).toHaveLength(2);
  });

  test('run dry: plans everything, writes nothing and keeps nothing', async () => {
    await bed.addContacts([ann, ben]);
    await syncTo({ in: 2, created: 2 }, 2);
    await bed.editContact(1, { first_name: 'Annie' });
    await bed.addContacts([cho, { first_name: 'Dot', email: 'dot@example.com' }]);
    await bed.addCustomers([{ full_name: 'Dot', email: 'dot@example.com' }]);
    const before = await kept(bed);
    const run = await bed.runSync({ dryRun: true });
    expect([run.status, noZeros(await bed.counts(run))]).toEqual([
      'done',
      { in: 4, created: 1, updated: 1, unchanged: 1, existing: 1 },
    ]);
    const planned = (await bed.rows(run)).filter(({ reason }) => reason === 'PLANNED');
    expect(planned.map(({ verdict, label }) => [verdict, label])).toEqual([
      ['updated', 'Annie Lee <ann@example.com>'],
      ['created', 'Cho'],
    ]);
    expect(await kept(bed)).toEqual(before);
    await syncTo({ in: 4, created: 1, updated: 1, unchanged: 1, existing: 1 }, 2);
  });

  test('a run that failed is not taken up again after a newer one has done its work', async () => {
    await bed.addContacts([ann, ben]);
    const failed = await inTransaction(bed.database.pool, async (db) => {
      const begun = await startRun(db, { ...RUN, phase: 'import-customers' });
      await addRows(db, begun.run.id, [{ n: 1, label: 'Ann', fields: {} }]);
      await planRows(db, begun.run.id, {
        sql: `select 1 as n, 'import' as action, null as record_id, null::jsonb as fields`,
      });
      await endRun(db, begun.run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
      return begun.run;
    });
    await syncTo({ in: 2, created: 2 }, 2);
    expect(await resumeRun(bed.database.pool, failed.id)).toBe(false);
  });
});

describe('the settings say', () => {
  test('that customers are created: nothing is imported', async () => {
    const bed = await openSyncBed({ account: QUICK, options: '{ importWith: create }' });
    onTestFinished(() => bed.close());
    await bed.addContacts([ann, ben, cho]);
    expect(noZeros(await bed.counts(await bed.runSync()))).toEqual({ in: 3, created: 3 });
    expect([...(await operationsIn(bed))]).toEqual(['customers.create']);
    expect(noZeros(await bed.counts(await bed.runSync()))).toEqual({ in: 3, unchanged: 3 });
  });

  test('that changes are left alone: nothing is updated', async () => {
    const bed = await openSyncBed({ account: QUICK, options: '{ onChange: ignore }' });
    onTestFinished(() => bed.close());
    await bed.addContacts([ann]);
    await bed.runSync();
    await bed.editContact(1, { first_name: 'Annie' });
    const run = await bed.runSync();
    expect(await bed.rows(run)).toMatchObject([{ verdict: 'unchanged', reason: 'CHANGE_IGNORED' }]);
    expect(await bed.customers()).toMatchObject([{ full_name: 'Ann Lee' }]);
  });
});

const RUN: NewRun = {
  sync: 'contacts',
  job: 'contacts',
  account: 'test',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  options: { rowsPerPage: 500, importWith: 'auto', onChange: 'update', matchBy: ['email', 'phone'] },
  phase: 'scan-contacts',
};

function noZeros(counts: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0));
}

function writesSeen({ service }: SyncBed): number {
  const seen = [...service.traffic.counts().byOperation].filter(([operation]) => !/\.get(all)?$/.test(operation));
  return seen.reduce((sum, [, n]) => sum + n, 0);
}

/** The operations that wrote customers, by the service's commit log. */
async function operationsIn({ database }: SyncBed): Promise<ReadonlySet<string>> {
  const found = await database.pool.query<{ operation: string }>(
    `select distinct operation from service.commits where kind = 'customer'`,
  );
  return new Set(found.rows.map(({ operation }) => operation));
}

/** Everything that a run may leave behind but the run itself. */
async function kept({ database }: SyncBed): Promise<unknown> {
  const tables = ['ledger.links', 'service.customers', 'service.contacts'];
  return Promise.all(tables.map(async (table) => (await database.pool.query(`select * from ${table}`)).rows));
}

async function leftInIndex({ database }: SyncBed): Promise<number | null> {
  return (await database.pool.query('select 1 from ledger.records')).rowCount;
}
