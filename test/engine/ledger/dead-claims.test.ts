/** Claims of processes that are gone. */
import { spawn } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { dropDeadClaims } from '../../../src/engine/ledger/claims.ts';
import { readRun } from '../../../src/engine/ledger/runs.ts';
import { aRun, claimOn, freshLedger, WORKER } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

/** What is left of the claims of a run. */
async function claimsOn(runId: string): Promise<number> {
  const left = await database.pool.query('select 1 from ledger.claims where run_id = $1', [runId]);
  return left.rowCount ?? 0;
}

describe('claims of processes that are gone', () => {
  test.each([
    ['a dead process on this host', { ...WORKER, pid: 2 ** 22 + 1 }, 0],
    ['a process whose pid another one has now', { ...WORKER, started: '1' }, 0],
    ['this process', WORKER, 1],
    ['a living process that says nothing about its start', { ...WORKER, started: '' }, 1],
    ['a process on another host', { ...WORKER, host: 'elsewhere', pid: 2 ** 22 + 1 }, 1],
  ])('of %s', async (_whose, worker, left) => {
    const run = await aRun(database);
    await claimOn(database, run, { worker });
    await dropDeadClaims(database.pool);
    expect(await claimsOn(run.id)).toBe(left);
    expect((await readRun(database.pool, run.id)).callsMissed).toBe(left === 0);
  });

  test('expired claims of any host are taken over', async () => {
    const run = await aRun(database);
    await claimOn(database, run, { worker: { ...WORKER, host: 'elsewhere' }, ttlMs: 0 });
    expect(await dropDeadClaims(database.pool)).toBe(1);
    expect(await claimsOn(run.id)).toBe(0);
  });

  test('a process is identified by its pid and its start time', async () => {
    const child = spawn('sleep', ['60']);
    const run = await aRun(database);
    const { pid = 0 } = child;
    await claimOn(database, run, { worker: { ...WORKER, pid, started: '' } });
    await dropDeadClaims(database.pool);
    expect(await claimsOn(run.id)).toBe(1);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
    await dropDeadClaims(database.pool);
    expect(await claimsOn(run.id)).toBe(0);
  });

  // A container's pids are its own, and containers on the host's network have the host's name.
  test('a process in another container of this host name is left alone', async () => {
    const [name, boot, pids = ''] = WORKER.host.split('/');
    const run = await aRun(database);
    const host = [name, boot, `${pids}0`].join('/');
    await claimOn(database, run, { worker: { ...WORKER, host, pid: 2 ** 22 + 1 } });
    await dropDeadClaims(database.pool);
    expect(await claimsOn(run.id)).toBe(1);
  });
});
