import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { lockstep, startLockstep } from './cli-process.ts';
import { type E2eWorkspace, openWorkspace } from './workspace.ts';

const KEYS = [
  'run',
  'sync',
  'type',
  'status',
  'state',
  'stateWords',
  'dryRun',
  'counts',
  'calls',
  'callsMissed',
  'durationMs',
  'budget',
  'scan',
  'results',
];

/** A process with this environment says at its end which CommonJS packages it has loaded. */
const SAYS_LOADED = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`
    import { createRequire } from 'node:module';
    process.on('exit', () => console.error('loaded', ...Object.keys(createRequire('file:///').cache)));`)}`,
};

let workspace: E2eWorkspace | undefined;
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
});

test('a dry run plans, a run imports and loads neither Redis nor the service, a second run writes nothing, and rows for a person are exported', async () => {
  workspace = await openWorkspace({ contacts: 100 });
  const { cwd, env, here, commits } = workspace;
  const planned = await here('run', 'nightly', '--dry-run');
  expect(planned.json).toMatchObject({ dryRun: true, status: 'done', scan: 'proven' });
  expect(await commits('customers.import')).toBe(0);

  const told = ['run', 'nightly', '--config', 'lockstep.yaml', '--json'];
  const first = await lockstep(told, { cwd, env: { ...env, ...SAYS_LOADED } });
  expect(first.stderr).toContain('node_modules/pg/');
  expect(first.stderr).not.toMatch(/node_modules\/(ioredis|fastify)\//);
  expect(first.json).toMatchObject({ sync: 'nightly', status: 'done', dryRun: false, results: {} });
  expect(Object.keys(first.json)).toEqual(KEYS);
  expect(first.json.counts).toEqual(planned.json.counts);
  const { in: total, ...verdicts } = first.json.counts;
  expect(Object.values<number>(verdicts).reduce((sum, n) => sum + n)).toBe(total);
  expect([total, await commits('customers.import')]).toEqual([100, first.json.counts.created]);
  expect(first.code).toBe(first.json.counts.review > 0 ? 1 : 0);

  const second = await here('run', 'nightly');
  expect(second.json.counts).toMatchObject({ in: 100, created: 0, updated: 0 });
  expect(await commits('customers.import')).toBe(first.json.counts.created);

  const exported = await here('runs', 'export', first.json.run, '--verdict', 'created', '--out', 'made.csv');
  expect(exported.json).toMatchObject({ rows: first.json.counts.created, verdict: 'created' });
  const csv = await readFile(path.join(workspace.cwd, 'made.csv'), 'utf8');
  expect(csv.split('\r\n')[0]).toBe('source_id,label,verdict,reason,detail,record_id,action,sends');
});

test('SIGTERM leaves a run unfinished, and the same command finishes it', async () => {
  workspace = await openWorkspace({
    contacts: 200,
    budget: '{ requests: 60, per: 1s, burst: 60, settle: 400ms, timeout: 2s }',
  });
  const { here, cwd, env, commits } = workspace;
  const args = ['run', 'nightly', '--config', 'lockstep.yaml'];
  const first = startLockstep(args, { cwd, env });
  await expect.poll(() => commits('customers.import')).toBeGreaterThan(20);
  first.signal('SIGTERM');
  const stopped = await first.ended;
  expect([stopped.code, stopped.stderr]).toEqual([3, expect.stringContaining('lockstep run nightly --config')]);
  const before = await commits('customers.import');
  expect(before).toBeLessThan(150);

  const resumed = await here('run', 'nightly');
  expect(stopped.stdout).toContain(resumed.json.run);
  expect(resumed.json).toMatchObject({ status: 'done', counts: { in: 200, unknown: 0 } });
  expect(await commits('customers.import')).toBe(resumed.json.counts.created);
});

test('a worker finishes a detached run, and ends with 0 at SIGTERM', async () => {
  workspace = await openWorkspace();
  const { here, cwd, env } = workspace;
  const detached = await here('run', 'nightly', '--detach');
  expect([detached.code, detached.json.status]).toEqual([0, 'running']);
  const worker = startLockstep(['start', '--roles', 'worker,scheduler', '--config', 'lockstep.yaml', '--json'], {
    cwd,
    env,
  });
  expect(await worker.ready()).toEqual({ roles: ['worker', 'scheduler'], schedules: 0, unfinished: 1 });
  const { pool } = workspace.database;
  await expect.poll(async () => (await readRun(pool, detached.json.run)).status).toBe('done');
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});
