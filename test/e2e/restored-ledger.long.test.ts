/** A ledger that was restored from an older backup, while the service has what was written since. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { databaseUrl } from '../cli/command.ts';
import { copyOf } from '../support/database.ts';
import { csvOf } from '../support/harness/orders.ts';
import { commandsIn } from './commands.ts';
import { KEYS, type OwnService, type OwnServices, openOwnServices } from './own-services.ts';

const CONTACTS = 20;
const NEW_CONTACTS = 5;
const MANY = 240;
let at: OwnServices;
beforeEach(async () => {
  at = await openOwnServices();
});
afterEach(() => at.close());

async function recordsOf({ database }: OwnService): Promise<readonly string[]> {
  const found = await database.pool.query<{ said: string }>(
    `select concat_ws(' ', 'customer', id, fields) as said from service.customers
     union all select concat_ws(' ', 'order', id, fields) from service.orders order by said`,
  );
  return found.rows.map(({ said }) => said);
}

test('syncs and loads write nothing twice, and the next ones write nothing', async () => {
  const service = await at.start({ contacts: CONTACTS });
  await at.settle({ acme: { url: service.url } });
  expect((await at.run('run', 'sync-acme')).code).toBe(0);
  const [customer] = (await service.database.pool.query('select id::int from service.customers limit 1')).rows;
  const before = await at.load('before.csv', [
    ['B-1', customer.id],
    ['B-2', customer.id],
  ]);
  expect(before.json.counts).toMatchObject({ created: 2, in: 2 });

  const backup = await copyOf(at.ledger);
  try {
    for (let n = 1; n <= NEW_CONTACTS; n++) {
      const body = { first_name: 'New', last_name: `Person ${n}`, email: `new-${n}@example.com` };
      await at.run('call', 'contacts.create', '--account', 'acme', '--body', JSON.stringify(body));
    }
    await service.database.pool.query(
      `update service.contacts set fields = fields || '{"phone": "+49 30 5550100"}'::jsonb
       where id = (select min(id) from service.contacts)`,
    );
    const night = await at.run('run', 'sync-acme');
    expect([night.code, night.json.counts]).toMatchObject([0, { created: NEW_CONTACTS, updated: 1 }]);
    const after = await at.load('after.csv', [
      ['A-1', customer.id],
      ['A-2', customer.id],
    ]);
    expect(after.json.counts).toMatchObject({ created: 2, in: 2 });
    const written = await recordsOf(service);

    const { here } = commandsIn({
      cwd: at.cwd,
      env: { DATABASE_URL: databaseUrl(backup.connection), KEY_ONE: KEYS.one, KEY_TWO: KEYS.two },
    });
    const restored = await here('run', 'sync-acme');
    expect([restored.code, restored.json.counts.created]).toEqual([0, 0]);
    const again = await here('orders', 'load', 'after.csv', '--account', 'acme', '--yes');
    expect([again.code, again.json.counts]).toMatchObject([0, { created: 0, existing: 2, in: 2 }]);
    expect(await recordsOf(service)).toEqual(written);
    const next = await here('run', 'sync-acme');
    expect([next.code, next.json.counts]).toMatchObject([0, { unchanged: CONTACTS + NEW_CONTACTS }]);
    expect(await recordsOf(service)).toEqual(written);
  } finally {
    await backup.close();
  }
});

test('a load and a sync that were unfinished in the backup create nothing that was created since', async () => {
  const service = await at.start({ contacts: MANY });
  await at.settle({ acme: { url: service.url, budget: '{ requests: 40, per: 1s, settle: 200ms, timeout: 2s }' } });
  const customers = await service.database.pool.query('select id::int from service.customers order by id limit 1');
  const orders = Array.from({ length: MANY }, (_, n) => [`A-${n + 1}`, Number(customers.rows[0].id)] as const);
  const { here, start } = commandsIn({ cwd: at.cwd, env: at.env });
  await at.file(
    'after.csv',
    csvOf(
      'order_id,client_id,amount',
      orders.map(([label, customer]) => `${label},${customer},1`),
    ),
  );
  const load = ['orders', 'load', 'after.csv', '--account', 'acme', '--yes'];

  const killedAt = async (path: string, ...command: readonly string[]) => {
    let asked = 0;
    const victim = start(...command);
    service.between(async (request, pass) => {
      if (request.path.endsWith(path) && ++asked === 4) victim.signal('SIGKILL');
      return pass();
    });
    expect((await victim.ended).code).toBeNull();
    service.between();
  };
  await killedAt('/orders/create', ...load);
  await killedAt('/customers/import', 'run', 'sync-acme');
  const backup = await copyOf(at.ledger);
  try {
    expect((await here(...load)).json.counts).toMatchObject({ in: MANY, created: MANY });
    expect((await here('run', 'sync-acme')).json.error).toBeUndefined();
    const written = await recordsOf(service);
    await backup.pool.query(
      `update ledger.runs set attended_at = attended_at - interval '1 h', created_at = created_at - interval '1 h'`,
    );
    const restored = commandsIn({ cwd: at.cwd, env: { ...at.env, DATABASE_URL: databaseUrl(backup.connection) } });
    const again = await restored.here(...load);
    const synced = await restored.here('run', 'sync-acme');
    expect(await recordsOf(service)).toEqual(written);
    expect([again.code, again.json.counts, synced.json.error]).toMatchObject([0, { in: MANY }, undefined]);
  } finally {
    await backup.close();
  }
});
