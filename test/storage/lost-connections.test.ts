/** A host closes no connection when it is lost: neither one of Lockstep nor one of Postgres. */
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { endLost, makePool } from '../../src/storage/pool.ts';
import { emptyDatabase } from '../support/database.ts';
import { startProxy } from '../support/tcp-proxy.ts';

const fresh = await emptyDatabase();
afterAll(() => fresh.close());

async function overNetwork() {
  const { host, port } = fresh.connection;
  const network = await startProxy({ ...(host !== undefined && { host }), ...(port !== undefined && { port }) });
  onTestFinished(() => network.close());
  const config = { ...fresh.connection, ...network.address };
  const pool = makePool(config);
  onTestFinished(() => pool.end());
  return { network, config, pool };
}

test('Postgres ends the transactions of a host that is lost, so that the others do not wait for its locks', async () => {
  const { rows } = await fresh.pool.query(
    `select name, setting from pg_settings where name ~ '^tcp_|^idle_in_transaction' and source = 'session' order by name`,
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    idle_in_transaction_session_timeout: '60000',
    tcp_keepalives_count: expect.any(String), // 0 on a Unix socket
    tcp_keepalives_idle: expect.any(String),
    tcp_keepalives_interval: expect.any(String),
    tcp_user_timeout: expect.any(String),
  });
});

test('a statement whose server is gone fails as soon as a new connection shows it, and the next one is done', async () => {
  const { network, config, pool } = await overNetwork();
  const db = await pool.connect();
  network.loseHost('no answer');
  const statement = db.query(`select 'no answer'`);
  const outcome = expect(statement).rejects.toThrow(/Connection terminated/);
  await expect.poll(network.isHostLost).toBe(true);
  network.restore();
  expect(await endLost([db], config)).toBe(0); // it may still be at work
  network.giveUp();
  await expect.poll(() => endLost([db], config)).toBe(1);
  await outcome;
  db.release(true);
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('nothing is ended while the server cannot be reached', async () => {
  const { network, config, pool } = await overNetwork();
  const db = await pool.connect();
  network.cut();
  await expect(endLost([db], config)).rejects.toThrow();
  db.release(true);
});
