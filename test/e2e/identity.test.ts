import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { startHttpServer } from '../support/http-server.ts';
import { customersOf, KEYS, type OwnService, type OwnServices, openOwnServices } from './own-services.ts';

const CONTACTS = 20;
let at: OwnServices;
beforeEach(async () => {
  at = await openOwnServices();
});
afterEach(() => at.close());

/** Changes all contacts, so that the next sync would write all customers. */
async function changeContacts({ database }: OwnService): Promise<void> {
  await database.pool.query(`update service.contacts set fields = fields || '{"organization": "Changed Ltd"}'::jsonb`);
}

/** Makes a run unfinished again, as one that has stopped for this reason. */
async function leave(run: string, status: 'paused' | 'failed', code: string): Promise<void> {
  await at.ledger.pool.query(
    `update ledger.runs set status = $2, phase = 'scan-contacts', error_code = $3, error = 'stopped' where id = $1`,
    [run, status, code],
  );
}

describe('an account that now points to another service', () => {
  test('is not written to until an operator says which tenant it is', async () => {
    const [staging, production] = [
      await at.start({ contacts: CONTACTS }),
      await at.start({ contacts: CONTACTS, people: 2 }),
    ];
    await at.settle({ acme: { url: staging.url } });
    expect((await at.run('run', 'sync-acme')).json.counts.created).toBeGreaterThan(CONTACTS / 2);
    await at.settle({ acme: { url: production.url } });
    // Customers of other people under the ids in the links.
    await production.database.pool.query(
      `insert into service.customers (tenant_id, fields) select tenant_id, jsonb_build_object('full_name', 'Stranger ' || id)
       from service.contacts order by id`,
    );
    await changeContacts(production);
    const before = await customersOf(production);
    const paused = await at.run('run', 'sync-acme');
    expect([paused.code, paused.json.error.code]).toEqual([3, 'IDENTITY_CHANGED']);
    expect(paused.json.error.message).toContain('lockstep accounts rebind acme');
    expect(paused.json.error.message).toContain(`its address is now ${production.url}; it was `);
    expect(paused.json.error.message).toContain('lockstep accounts fresh acme');
    expect(await customersOf(production)).toEqual(before);

    const fresh = await at.run('accounts', 'fresh', 'acme');
    expect([fresh.code, fresh.json.tenant]).toEqual([0, 'acme~2']);
    const again = await at.run('run', 'sync-acme');
    expect([again.code, again.json.counts.updated]).toEqual([0, 0]);
    expect(await customersOf(production)).toEqual(expect.arrayContaining([...before]));
  });

  test('is not written to after a wrong rebind either, because its records belong to other people', async () => {
    const [staging, production] = [
      await at.start({ contacts: CONTACTS }),
      await at.start({ contacts: CONTACTS, people: 2 }),
    ];
    await at.settle({ acme: { url: staging.url } });
    await at.run('run', 'sync-acme');
    await at.settle({ other: { url: production.url } });
    await at.run('run', 'sync-other');
    await changeContacts(production);
    const before = await customersOf(production);
    await at.ledger.pool.query('delete from ledger.identities where origin like $1', [
      `%${new URL(production.url).port}`,
    ]);
    await at.settle({ acme: { url: production.url } });
    expect((await at.run('accounts', 'rebind', 'acme')).code).toBe(0);
    const paused = await at.run('run', 'sync-acme');
    expect(paused.code).toBe(3);
    expect(['IDENTITY_UNCLEAR', 'RUN_PAUSED']).toContain(paused.json.error.code);
    expect(await customersOf(production)).toEqual(before);
  });

  test('which is another known one: its unfinished runs are cancelled, and its failed ones cannot be resumed', async () => {
    const [staging, production] = [await at.start({ contacts: 2 }), await at.start({ contacts: 2, people: 2 })];
    await at.settle({ acme: { url: staging.url }, other: { url: production.url } });
    const failed = (await at.run('run', 'sync-acme')).json.run;
    await leave(failed, 'failed', 'SERVICE_AWAY');
    const paused = (await at.run('run', 'sync-acme', '--dry-run')).json.run;
    await leave(paused, 'paused', 'IDENTITY_CHANGED');
    await at.run('run', 'sync-other');
    await at.settle({ acme: { url: production.url } });
    const rebound = (await at.run('accounts', 'rebind', 'acme')).json;
    expect(rebound).toMatchObject({ tenant: 'other', address: production.url, paused: [], cancelled: [paused] });
    const refused = await at.run('runs', 'resume', failed);
    expect([refused.code, refused.json.error.code]).toEqual([3, 'RUN_OF_OTHER_TENANT']);
    expect((await at.run('run', 'sync-acme')).json.counts).toMatchObject({ in: 2, created: 0 });
  });

  test('of which another account stays where it is: the runs of that account continue', async () => {
    const [service, moved] = [await at.start({ contacts: 2 }), await at.start({ contacts: 2, people: 2 })];
    await at.settle({ acme: { url: service.url }, same: { url: service.url } });
    await at.run('run', 'sync-acme');
    const { run } = (await at.run('run', 'sync-same')).json;
    await leave(run, 'paused', 'DIALECT_DRIFTED');
    await at.settle({ acme: { url: moved.url }, same: { url: service.url } });
    expect((await at.run('accounts', 'fresh', 'acme')).json).toMatchObject({ tenant: 'acme~2', cancelled: [] });
    expect((await at.run('runs', 'resume', run)).json).toMatchObject({ status: 'done', counts: { in: 2 } });
  });

  test('delivers none of its tasks to the targets of the previous service', async () => {
    const [staging, production] = [
      await at.start({ contacts: CONTACTS }),
      await at.start({ contacts: CONTACTS, people: 2 }),
    ];
    const receiver = await startHttpServer({ body: '' });
    try {
      await at.settle({ acme: { url: staging.url } }, `${receiver.url}/hook`);
      expect((await at.run('run', 'mirror-acme')).json.counts.created).toBeGreaterThan(0);
      const told = receiver.requests.length;
      await at.settle({ acme: { url: production.url } }, `${receiver.url}/hook`);
      const paused = await at.run('run', 'mirror-acme');
      expect([paused.code, paused.json.error.code, receiver.requests.length]).toEqual([3, 'IDENTITY_CHANGED', told]);
    } finally {
      await receiver.close();
    }
  });

  test('has a paused run that no longer asks for what an operator has confirmed', async () => {
    const service = await at.start({ contacts: 2 });
    await at.settle({ acme: { url: service.url } });
    const { run } = (await at.run('run', 'sync-acme')).json;
    await leave(run, 'paused', 'SERVICE_WENT_BACK');
    expect((await at.run('accounts', 'rebind', 'acme')).json.paused).toEqual([run]);
    const joined = (await at.run('run', 'sync-acme')).json;
    expect(joined).toMatchObject({ run, error: { code: 'TENANT_CONFIRMED' } });
    expect(joined.error.message).toMatch(new RegExp(`is confirmed.*lockstep runs resume ${run}`));
    expect((await at.run('runs', 'resume', run)).json).toMatchObject({ status: 'done', counts: { in: 2 } });
  });

  test('continues under its new address once an operator has confirmed that it is the same', async () => {
    const service = await at.start({ contacts: CONTACTS });
    await at.settle({ acme: { url: service.url } });
    await at.run('run', 'sync-acme');
    await at.ledger.pool.query(`update ledger.identities set origin = 'https://old.example.com'`);
    const paused = await at.run('run', 'sync-acme');
    expect([paused.code, paused.json.error.code]).toEqual([3, 'IDENTITY_CHANGED']);
    expect(paused.json.error.message).toContain('https://old.example.com');
    const witnesses = async () => (await at.ledger.pool.query('select from ledger.witnesses')).rowCount;
    const known = await witnesses();
    // Repeated as after a command that was killed: it says no more than the first time.
    for (const _ of [1, 2]) expect((await at.run('accounts', 'rebind', 'acme')).json.tenant).toBe('acme');
    expect([known, await witnesses()]).toEqual([CONTACTS * 2, known]);
    expect((await at.run('run', 'sync-acme')).json.counts).toMatchObject({ unchanged: CONTACTS, in: CONTACTS });
  });
});

describe('an account that no service has accepted yet', () => {
  test.each([
    ['a port at which nothing listens', { url: 'http://127.0.0.1:9' }],
    ['a name that does not exist', { url: 'http://nowhere.invalid' }],
    ['an address at which something else answers', { url: 'elsewhere' }],
    ['a key that the service refuses', { key: 'two' }],
  ] as const)('loads a file once %s is corrected', async (_, wrong) => {
    const service = await at.start({ contacts: CONTACTS });
    const elsewhere = await startHttpServer({ status: 404, body: 'not here' });
    try {
      const url = 'url' in wrong ? (wrong.url === 'elsewhere' ? elsewhere.url : wrong.url) : service.url;
      await at.settle({ acme: { url, key: 'key' in wrong ? wrong.key : 'one' } });
      const failed = await at.load('orders.csv', [['A-1', 1]]);
      expect([failed.code, failed.json.error.code]).not.toContain('IDENTITY_CHANGED');
      expect(failed.code).toBe(3);
      await at.settle({ acme: { url: service.url } });
      const loaded = await at.load('orders.csv', [['A-1', 1]]);
      expect([loaded.code, loaded.json.counts]).toEqual([0, expect.objectContaining({ in: 1, created: 1 })]);
    } finally {
      await elsewhere.close();
    }
  });
});

describe('an account with another key', () => {
  test('keeps its links where the key of the tenant was rotated', async () => {
    const service = await at.start({ contacts: CONTACTS });
    await at.settle({ acme: { url: service.url } });
    await at.run('run', 'sync-acme');
    await seedWorkspace(service.database.pool, { contacts: 0, tenants: [{ name: 'test', key: KEYS.two }] });
    await at.settle({ acme: { url: service.url, key: 'two' } });
    const rotated = await at.run('run', 'sync-acme');
    expect([rotated.code, rotated.json.counts.unchanged]).toEqual([0, CONTACTS]);
  });

  test('is suspended, and not treated as another tenant, where the service refuses the key', async () => {
    const service = await at.start({ contacts: CONTACTS });
    await at.settle({ acme: { url: service.url } });
    await at.run('run', 'sync-acme');
    await at.settle({ acme: { url: service.url, key: 'two' } });
    const refused = await at.run('run', 'sync-acme');
    expect([refused.code, refused.json.error.code]).toEqual([3, 'KEY_REFUSED']);
    expect(refused.json.error.message).toContain('401');
    await at.settle({ acme: { url: service.url } });
    expect((await at.run('run', 'sync-acme')).json.counts).toMatchObject({ unchanged: CONTACTS, in: CONTACTS });
  });

  test('resumes by hand only with a key that the service accepts', async () => {
    const service = await at.start({ contacts: CONTACTS });
    await at.settle({ acme: { url: service.url, key: 'two' } });
    await at.run('run', 'sync-acme');
    const resume = async () => at.run('accounts', 'resume', 'acme');
    const refused = await resume();
    expect([refused.code, refused.json.error?.code]).toEqual([3, 'KEY_REFUSED']);
    expect(refused.json.error.message).toContain('run this again: `lockstep accounts resume acme');
    await at.settle({ acme: { url: service.url } });
    expect(await resume()).toMatchObject({ code: 0, json: { resumed: true } });
    expect(await resume()).toMatchObject({ code: 0, json: { resumed: false } });
  });

  test('stays what it is where an operator rebinds it, or starts it fresh, with a key that the service refuses', async () => {
    const service = await at.start({ contacts: CONTACTS });
    await at.settle({ acme: { url: service.url } });
    await at.run('run', 'sync-acme');
    const known = async () => (await at.ledger.pool.query('select * from ledger.identities')).rows;
    const before = [await known(), (await at.run('accounts')).json.accounts];
    for (const command of ['rebind', 'fresh']) {
      await at.settle({ acme: { url: service.url, key: 'two' } });
      const refused = await at.run('accounts', command, 'acme');
      expect([refused.code, refused.json.error.code]).toEqual([3, 'KEY_REFUSED']);
      expect(refused.json.error.message).toContain('401');
      expect(refused.json.error.message).toContain(`run this again: \`lockstep accounts ${command} acme`);
      await at.settle({ acme: { url: 'http://127.0.0.1:9' } });
      const untried = (await at.run('accounts', command, 'acme')).json.error;
      expect(untried).toEqual({ code: 'KEY_NOT_TRIED', message: expect.stringContaining('connection refused') });
      expect([await known(), (await at.run('accounts')).json.accounts]).toEqual(before);
    }
  });

  test('is not written to where the key belongs to another tenant', async () => {
    const service = await at.start({ contacts: CONTACTS, tenants: ['one', 'two'] });
    await at.settle({ acme: { url: service.url } });
    await at.run('run', 'sync-acme');
    await at.settle({ acme: { url: service.url, key: 'two' } });
    const before = await customersOf(service);
    const paused = await at.run('run', 'sync-acme');
    expect([paused.code, paused.json.error.code]).toEqual([3, 'IDENTITY_CHANGED']);
    expect(await customersOf(service)).toEqual(before);
  });
});

test('a service restored from a backup that reuses ids pauses the run, and no customer is overwritten', async () => {
  const service = await at.start({ contacts: CONTACTS });
  await at.settle({ acme: { url: service.url } });
  await at.run('run', 'sync-acme');
  // The state after a restore: the later half is gone, and its ids belong to other people.
  await service.database.pool.query(
    `update service.customers set contact_id = null, fields = jsonb_build_object('full_name', 'Stranger ' || id, 'email', 's' || id || '@x.example')
     where id > $1`,
    [CONTACTS / 2],
  );
  await changeContacts(service);
  const before = await customersOf(service);
  const paused = await at.run('run', 'sync-acme');
  expect(paused.code).toBe(3);
  expect(paused.stderr + JSON.stringify(paused.json)).toContain('restored from a backup');
  expect(await customersOf(service)).toEqual(before);

  expect((await at.run('accounts', 'rebind', 'acme')).code).toBe(0);
  const [runId] = (await at.run('runs')).json.runs.map((one: { run: string }) => one.run);
  const resumed = await at.run('runs', 'resume', runId);
  expect(resumed.json.counts).toMatchObject({ updated: CONTACTS / 2, created: CONTACTS / 2 });
  const strangers = (await customersOf(service)).filter((said) => said.includes('Stranger'));
  expect(strangers).toHaveLength(CONTACTS / 2);
});
