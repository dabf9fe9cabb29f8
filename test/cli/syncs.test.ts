import { afterAll, beforeEach, expect, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, pauseRun } from '../../src/engine/ledger/run-status.ts';
import { keepSchedules, makeDueStarts } from '../../src/engine/ledger/schedules.ts';
import { aRun, freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { commandsWith } from './command.ts';

const SETTINGS = `
accounts: { demo: {} }
syncs:
  nightly: { type: contacts, account: demo, schedule: { cron: "30 2 * * *", timezone: Europe/Berlin } }
  by-hand: { type: contacts, account: demo }
`;

const database = await freshLedger();
beforeEach(() => database.pool.query('truncate ledger.runs, ledger.schedules, ledger.paused_syncs cascade'));
afterAll(() => database.close());

const lockstep = commandsWith(database, SETTINGS);

/** The lines about one sync. */
const about = (stdout: string, sync: string): string =>
  stdout.split(/\n\n/).find((block) => block.startsWith(`${sync}:`)) ?? '';

const nightlyRun = async () => (await aRun(database, { sync: 'nightly', account: 'demo', phase: 'scan-contacts' })).id;

test('lists each sync with its schedule, its next five starts and its last result', async () => {
  const ended = await nightlyRun();
  await addRows(database.pool, ended, [{ n: 0, sourceId: '1', label: 'Ann', verdict: 'created' }]);
  await endRun(database.pool, ended, 'done');
  const running = await nightlyRun();
  const { code, stdout } = await lockstep('syncs');
  expect(code).toBe(0);
  expect(about(stdout, 'nightly')).toMatch(/Schedule +daily at 02:30 \(Europe\/Berlin\)/);
  expect(about(stdout, 'nightly')).toMatch(/Next +\d{4}-\d\d-\d\d 02:30(, (\d{4}-)?\d\d-\d\d 02:30){4}\n/);
  expect(about(stdout, 'nightly')).toMatch(/No scheduler starts it\. Start one: lockstep start/);
  expect(about(stdout, 'nightly')).toContain(`Last      run ${ended} done, ended `);
  expect(about(stdout, 'nightly')).toContain('1 created');
  expect(about(stdout, 'nightly')).toContain(`Now       run ${running} is waiting for a worker`);
  expect(about(stdout, 'by-hand')).toContain('it runs by lockstep run by-hand --config s.yaml only');
  expect(about(stdout, 'by-hand')).toContain('no run has ended yet');
});

test('a sync whose run awaits approval starts only if that run has ended', async () => {
  const paused = await nightlyRun();
  await pauseRun(database.pool, paused, { code: 'AWAITS_CONFIRMATION', message: 'look at it' });
  const condition = `, if run ${paused} has ended by then\n`;
  expect(about((await lockstep('syncs')).stdout, 'nightly')).toContain(condition);
  expect((await lockstep('status')).stdout).toMatch(
    new RegExp(`nightly +\\d{4}-\\d\\d-\\d\\d 02:30 \\(Europe/Berlin\\)${condition}`),
  );
});

test('a run that a person declined is shown as not approved', async () => {
  const declined = await nightlyRun();
  await endRun(database.pool, declined, 'cancelled', { code: 'NOT_APPROVED', message: 'Not approved.' });
  expect(about((await lockstep('syncs')).stdout, 'nightly')).toContain(`run ${declined} not approved, ended `);
});

test('gives starts and results to programs as JSON', async () => {
  const { json } = await lockstep('syncs', '--json');
  expect(json.syncs).toMatchObject([
    { sync: 'nightly', type: 'contacts', account: 'demo', schedule: { kind: 'cron' }, paused: null, last: null },
    { sync: 'by-hand', schedule: null, next: [] },
  ]);
  expect(json.syncs[0].next).toHaveLength(5);
});

test('says since when a start is overdue because no scheduler runs', async () => {
  const schedule = { kind: 'every', everyMs: 60_000, missed: 'run-once', jitterMs: 0 } as const;
  await keepSchedules(database.pool, [{ sync: 'nightly', schedule }], new Date(Date.now() - 3_600_000));
  expect(about((await lockstep('syncs')).stdout, 'nightly')).toMatch(/Overdue +since .*: no scheduler runs/);
});

test('status and runs name the start that a scheduler has planned, unless the settings have another schedule now', async () => {
  const { pool } = database;
  const plan = {
    kind: 'cron',
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    missed: 'run-once',
    jitterMs: 0,
  } as const;
  await nightlyRun();
  await keepSchedules(pool, [{ sync: 'nightly', schedule: plan }]);
  await pool.query(`update ledger.schedules set due_at = '2999-01-01T03:04:00Z'`);
  expect((await lockstep('status')).stdout).toContain('2999-01-01 04:04 (Europe/Berlin)');
  expect((await lockstep('runs')).stdout).toContain('Next start: nightly, 2999-01-01 04:04 (Europe/Berlin)');
  await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...plan, cron: '0 5 * * *' } }]);
  expect((await lockstep('status')).stdout).toMatch(/nightly +\d{4}-\d\d-\d\d 02:30 \(Europe\/Berlin\)/);
});

test('says for which run a start waits', async () => {
  const schedule = { kind: 'every', everyMs: 60_000, missed: 'run-once', jitterMs: 0 } as const;
  await keepSchedules(database.pool, [{ sync: 'nightly', schedule }], new Date(Date.now() - 3_600_000));
  const { id } = await aRun(database, { sync: 'other' });
  await makeDueStarts(database.pool, async () => ({ status: 'waits', run: id }));
  const { stdout } = await lockstep('syncs');
  expect(about(stdout, 'nightly')).toContain(`it waits for run ${id}, which writes the same records`);
});

test('a pause is durable, shows its reason, and ends with resume', async () => {
  const paused = await lockstep('syncs', 'pause', 'nightly', '--reason', 'the service is moving');
  expect(paused.stdout).toContain('Resume it with: lockstep syncs resume nightly --config s.yaml');
  const { stdout } = await lockstep('syncs');
  expect(about(stdout, 'nightly')).toMatch(/Paused +since .* \(the service is moving\)/);
  expect(about(stdout, 'nightly')).not.toContain('Next');
  expect((await lockstep('syncs', 'resume', 'nightly')).stdout).toBe('nightly is resumed.\n');
  expect((await lockstep('syncs', 'resume', 'nightly')).stdout).toContain('was not paused');
  expect(about((await lockstep('syncs')).stdout, 'nightly')).not.toContain('Paused');
});

test('a paused sync that the settings no longer have is listed and can be resumed', async () => {
  await database.pool.query(`insert into ledger.paused_syncs (sync) values ('gone')`);
  expect((await lockstep('syncs')).stdout).toContain('gone is paused and not in the settings. Resume it with:');
  expect((await lockstep('syncs', 'resume', 'gone', '--json')).json).toEqual({ sync: 'gone', resumed: true });
});

test.each(['pause', 'resume'])('a misspelt name is an error with a suggestion: %s', async (what) => {
  const { code, stderr } = await lockstep('syncs', what, 'nigthly');
  expect(code).toBe(2);
  expect(stderr).toContain('did you mean "nightly"?');
});

test('run makes a run of a paused sync and says that it is paused', async () => {
  await lockstep('syncs', 'pause', 'nightly');
  const { code, stdout } = await lockstep('run', 'nightly', '--detach');
  expect(code).toBe(0);
  expect(stdout).toMatch(/Sync nightly is paused since .*: no scheduler starts it\. This run starts anyway\./);
  expect(stdout).toContain('Started run');
});
