import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import type { CallEvent } from '../../src/client/call/client.ts';
import { recordBudgets } from '../../src/engine/account/budget-recorder.ts';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, pauseRun } from '../../src/engine/ledger/run-status.ts';
import { pauseSync } from '../../src/engine/ledger/schedules.ts';
import { addBudgetUse } from '../../src/engine/ledger/scopes/budget-minutes.ts';
import { disableTarget } from '../../src/mirror/outbox/target-states.ts';
import { aRun, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { freshDatabase } from '../support/database.ts';
import { commandsWith } from './command.ts';

const SETTINGS = `
accounts: { acme: { url: "https://sales.example", apiKey: { env: KEY }, budget: { requests: 30, per: 1m } } }
syncs:
  nightly: { type: contacts, account: acme, schedule: { cron: "0 2 * * *", timezone: Europe/Berlin } }
  hourly: { type: contacts, account: acme, schedule: { every: 1h } }
targets: { hook: { type: webhook, url: "https://hook.example/", secret: { env: KEY } } }
`;

const database = await freshDatabase();
afterAll(() => database.close());

const lockstep = commandsWith(database, SETTINGS);
const status = (...args: readonly string[]) => lockstep('status', ...args);

const runOf = async (sync: string) =>
  (await aRun(database, { sync, account: 'acme', resource: sync, phase: 'scan-contacts' })).id;

test('shows what needs a person, what runs, what starts next, and the budgets', async () => {
  const { pool } = database;
  const empty = await status();
  expect(empty.stdout).toMatch(
    /^Needs a person:\n {2}syncs (nightly, hourly|hourly, nightly): no scheduler starts them\. Start one; .*\n {6}lockstep start.*\n\nRunning now\n {2}none\n\nNext starts\n/,
  );
  // Between 0:00 and 1:00 UTC both start at the same time, and may come in any order.
  expect(empty.stdout).toMatch(
    /nightly +\d{4}-\d\d-\d\d 02:00 \(Europe\/Berlin\)\n(?:hourly .*\n)?\nBudgets\n[\s\S]*acme +at most 30 calls a minute\n$/,
  );

  const working = await runOf('working');
  await noteAttended(pool, [working], WORKER);
  const waiting = await runOf('waiting');
  await pauseRun(pool, waiting, { code: 'AWAITS_CONFIRMATION', message: 'look at it' });
  const earlier = await runOf('nightly');
  await endRun(pool, earlier, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
  const latest = await runOf('nightly');
  await addRows(pool, latest, [{ n: 1, sourceId: '1', label: 'Ann', verdict: 'review', reason: 'NO_KEY' }]);
  await endRun(pool, latest, 'done');
  await disableTarget(pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  await pauseSync(pool, 'hourly', 'moving');

  const { stdout } = await status();
  const { needs, running, next, unscheduled, paused } = (await status('--json')).json;
  const commands = ['review', `runs show ${waiting}`, 'deliveries enable hook', 'start'];
  expect(needs.map(({ command: one }: { command: string }) => one)).toEqual(commands);
  expect(running.map(({ run }: { run: string }) => run)).toEqual([working]);
  expect(next.map(({ sync }: { sync: string }) => sync)).toEqual(['nightly']);
  expect([unscheduled, paused]).toMatchObject([['nightly'], [{ sync: 'hourly', reason: 'moving' }]]);
  expect(stdout).toMatch(
    new RegExp(`run ${waiting} of waiting, since .*: waits for approval: nothing is sent until then\\n`),
  );
  expect(stdout).toMatch(/hourly +paused/);
  expect(stdout).not.toContain(earlier);

  const acknowledged = await lockstep('runs', 'acknowledge', latest);
  expect(acknowledged).toMatchObject({
    code: 0,
    stdout: `Run ${latest} is acknowledged: status and alerts leave it out.\n`,
  });
  expect((await status('--json')).json.needs.map(({ command: one }: { command: string }) => one)).toEqual(
    commands.slice(1),
  );
  const shown = (await lockstep('runs', 'show', latest)).stdout;
  expect(shown).toMatch(/Note: \S+ has acknowledged its problems\./);
  const refused = await lockstep('runs', 'acknowledge', waiting);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`Run ${waiting} is unfinished`) });
});

test('shows until when an account waits for the rate limit of its service', async () => {
  const recorder = recordBudgets(database.pool, () => new Map(), pino({ level: 'silent' }));
  for (const retryAfterMs of [600_000, 1_000])
    recorder.called('acme', { outcome: { status: 'limited', httpStatus: 429, retryAfterMs } } as CallEvent); // as: all that is read
  await recorder.close();
  for (const perSecond of [0.1, 0.2, undefined])
    await addBudgetUse(database.pool, 'acme', { calls: 9, limited: 0, waitedMs: 0, perSecond });
  expect((await status()).stdout).toMatch(
    /acme +12 calls a minute when last used \(at most 30 calls a minute\) +waits for the rate limit until \d{4}-.* UTC\n/,
  );
  const { pausedUntil } = (await status('--json')).json.accounts[0];
  expect(Date.parse(pausedUntil) - Date.now()).toBeGreaterThan(500_000);
  const run = await runOf('limited');
  await noteAttended(database.pool, [run], WORKER);
  expect((await status()).stdout).toMatch(/limited +running, waiting for the rate limit {2}/);
  expect((await lockstep('runs', 'show', run)).stdout).toMatch(/; calls wait for the rate limit until \d{4}-.* UTC\n/);
});
