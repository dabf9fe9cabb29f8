/** What `lockstep start` logs: services that stop working and work again, and runs, once each. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { databaseUrl } from '../cli/command.ts';
import { startFrontServer } from '../support/front-server.ts';
import { openSyncHarness, type SyncHarness, TEST_KEY } from '../support/sync-harness.ts';
import { type Running, startLockstep } from './cli-process.ts';

async function start({ dataDir, database, settingsText }: SyncHarness): Promise<Running> {
  await writeFile(path.join(dataDir, 'lockstep.yaml'), settingsText);
  const env = { DATABASE_URL: databaseUrl(database.connection), TEST_KEY };
  return startLockstep(['start', '--config', 'lockstep.yaml', '--json'], { cwd: dataDir, env });
}

const entries = (stderr: string) =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

test('says once that a service is down, without any run, and once that it works again', async () => {
  const front = await startFrontServer();
  const harness = await openSyncHarness({ serviceUrl: front.url });
  onTestFinished(() => harness.close());
  onTestFinished(() => front.close());
  front.passTo(harness.service.url);
  front.set(async () => ({ status: 503, body: 'away' }));
  const running = await start(harness);
  expect(await running.logs('does not work')).toMatch(/"account":"test".*503/);
  await expect.poll(() => front.requests.length, { timeout: 20_000 }).toBeGreaterThan(2);
  front.set();
  await running.logs('works again');
  running.signal('SIGTERM');
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  const messages = entries(stderr).map(({ level, msg }) => [level, msg.split(':')[0]]);
  expect(messages).toEqual([
    [40, 'the service does not work'],
    [30, 'the service works again'],
  ]);
});

test('logs the start and the end of each run with its rows', async () => {
  const harness = await openSyncHarness({ schedule: '{ every: 1s }' });
  onTestFinished(() => harness.close());
  await harness.addContacts([{ firstName: 'Ann', email: 'ann@example.com' }]);
  const running = await start(harness);
  const { run, rows } = JSON.parse(await running.logs('"run done"'));
  expect(rows).toEqual({ created: 1 });
  running.signal('SIGTERM');
  const about = entries((await running.ended).stderr).filter((entry) => entry.run === run);
  expect(about.map(({ msg, sync }) => [msg, sync])).toEqual([
    ['run started', 'contacts'],
    ['run done', 'contacts'],
  ]);
});
