/** A host that is lost in the middle of a load: its connections are not closed. Another host finishes the load; then it comes back. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ended } from '../support/harness/ended.ts';
import { eachOnce, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import { programFile } from '../support/programs.ts';
import { startProxy } from '../support/tcp-proxy.ts';

const ORDERS = 300;
const ACCOUNT = 'budget: { requests: 200, per: 1s, burst: 20, timeout: 2s, settle: 1s, concurrency: 4 }';
const MORE = 50;
/** After 30 s its claims expire, and after 60 s Postgres ends its transactions; when it is back, it ends its connections after 40 s. */
const MOST_MS = 150_000;

test.each(['commit', 'ledger.attempts', 'update ledger.claims'])(
  'a host that is lost when it sends "%s" delays a load, and works again when it is back: nothing is lost or doubled',
  async (words) => {
    const harness = await openOrdersHarness({ account: ACCOUNT });
    onTestFinished(() => harness.close());
    await harness.addNumberedCustomers(3);
    const { connection } = harness.database;
    const network = await startProxy({ host: connection.host, port: connection.port });
    onTestFinished(() => network.close());
    const text = await readFile(path.join(harness.dataDir, 'lockstep.yaml'), 'utf8');
    const startHost = (address: { readonly host?: string; readonly port?: number }) => {
      const args = [
        JSON.stringify({ ...connection, ...address, connectionTimeoutMillis: 5_000 }),
        harness.dataDir,
        text,
      ];
      const env = { ...process.env, ...harness.env };
      const stdio = ['pipe', 'inherit', 'inherit'] as const;
      const host = spawn(process.execPath, [programFile('test/support/world-program'), ...args], {
        env,
        stdio: [...stdio],
      });
      onTestFinished(() => void host.kill('SIGKILL'));
      return host;
    };
    const { begun } = await harness.takeIn(ordersCsv(ORDERS, { customers: 3 }));
    startHost(network.address);
    await vi.waitUntil(async () => (await harness.orderCommits()).size > 40, { timeout: 60_000 });
    network.loseHost(words);
    await vi.waitUntil(network.isHostLost, { timeout: 30_000 });
    const lostAt = Date.now();
    const other = startHost({});
    const run = await ended(harness.database, begun.run.id, { timeout: MOST_MS });
    process.stdout.write(`${words}: done after ${Date.now() - lostAt} ms\n`);
    expect([run.status, await harness.tally(run)]).toMatchObject(['done', { created: ORDERS, in: ORDERS }]);
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
    other.kill('SIGKILL');
    network.restore();
    network.giveUp();
    const more = await harness.takeIn(ordersCsv(MORE, { customers: 3, from: ORDERS + 1 }));
    expect((await ended(harness.database, more.begun.run.id, { timeout: MOST_MS })).status).toBe('done');
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS + MORE));
  },
  6 * 60_000,
);
