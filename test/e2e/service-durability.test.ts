import { expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/open.ts';
import { serviceOver } from '../service/started-service.ts';
import { scratch } from '../storage/embedded/scratch.ts';
import { postmasterOf } from '../support/processes.ts';

const newDir = scratch();

test('after Postgres was killed during many creates, each answered order exists, and none twice', async () => {
  const dataDir = await newDir();
  const before = await openDatabase({ url: 'embedded', dataDir });
  const busy = await serviceOver(before.pool);
  const client_id = await busy.create('customers.create', { full_name: 'Busy' });
  const answered: string[] = [];
  async function sendUntilRefused(lane: number): Promise<void> {
    for (let n = 0; ; n++) {
      const order_id = `K-${lane}-${n}`;
      const { status } = await busy.call('orders.create', { body: { client_id, order_id } });
      if (status !== 200) return;
      answered.push(order_id);
      if (answered.length === 500) process.kill(postmasterOf(dataDir), 'SIGKILL');
    }
  }
  await Promise.all(Array.from({ length: 32 }, (_, lane) => sendUntilRefused(lane)));
  await busy.close();
  const after = await openDatabase({ url: 'embedded', dataDir });
  const { rows } = await after.pool.query(`select fields->>'order_id' as id from service.orders`);
  await before.close();
  await after.close();
  const found = rows.map(({ id }) => id);
  expect(new Set(found).size).toBe(found.length);
  expect(answered.filter((id) => !found.includes(id))).toEqual([]);
  expect(answered.length).toBeGreaterThanOrEqual(500);
});
