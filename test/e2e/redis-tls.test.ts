/** Redis over TLS, with a certificate that the process trusts, as NODE_EXTRA_CA_CERTS names it. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { databaseUrl } from '../cli/command.ts';
import { CERTIFICATE } from '../support/certificate.ts';
import { freshDatabase } from '../support/database.ts';
import { anError } from '../support/matchers.ts';
import { describeWithRedis } from '../support/redis.ts';
import { AT_ONCE, freePort, startOwnRedis } from '../support/redis-server.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';

async function open() {
  const harness = await openCommandHarness();
  onTestFinished(() => harness.close());
  const ledger = await freshDatabase(); // the harness keeps the budgets of its own in Postgres
  onTestFinished(() => ledger.close());
  const cert = await harness.file('cert.pem', CERTIFICATE.cert);
  const key = await harness.file('key.pem', CERTIFICATE.key);
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
  const overTls = (port: number) => ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'];
  const dir = path.join(harness.dataDir, 'redis');
  await mkdir(dir);
  const start = (url: string, env: Record<string, string>) => {
    const own = { DATABASE_URL: databaseUrl(ledger.connection), REDIS_URL: url };
    const around = { cwd: harness.dataDir, env: { ...harness.around.env, ...own, ...env } };
    return startLockstep(['start', '--roles', 'worker', '--config', 'lockstep.yaml', '--json'], around);
  };
  return { start, dir, overTls, cert };
}

/** Starts a process on this Redis, and ends it. */
async function works(running: ReturnType<typeof startLockstep>): Promise<void> {
  expect(await running.ready()).toMatchObject({ roles: ['worker'] });
  running.signal('SIGTERM');
  expect((await running.ended).code).toBe(0);
}

describeWithRedis('Redis over TLS', () => {
  test('one server', async () => {
    const { start, dir, overTls, cert } = await open();
    const port = await freePort();
    const redis = await startOwnRedis(dir, [...AT_ONCE, ...overTls(port)]);
    if (!redis) throw new Error('no Redis is installed');
    onTestFinished(redis.close);
    const url = `rediss://localhost:${port}`;
    await works(start(url, { NODE_EXTRA_CA_CERTS: cert }));
    // Several times, because the alert that follows arrives at any moment.
    for (const one of Array.from({ length: 4 }, () => start(url, {}))) {
      const { code, json } = await one.ended;
      expect([code, json]).toMatchObject([2, { error: anError('REDIS_UNREACHABLE', 'self-signed certificate') }]);
    }
  });
});
