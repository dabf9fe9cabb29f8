/** A ledger that was restored from an older backup, while the service has what was written since. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { databaseUrl } from '../cli/command.ts';
import { copyOf } from '../support/database.ts';
import { commandsIn } from './commands.ts';
import { KEYS, type OwnService, type OwnServices, openOwnServices } from './own-services.ts';

const CONTACTS = 20;
const NEW_CONTACTS = 5;
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
