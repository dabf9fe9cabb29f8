/** The last phase of a run by itself: the results of its rows. */
import pino from 'pino';
import { afterAll, afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deliverStatus } from '../../jobs/deliver-status.ts';
import { PLAIN_HINTS } from '../../src/base/reasons/reasons.ts';
import { problemLines } from '../../src/cli/print/problem-lines.ts';
import type { TaskEvent } from '../../src/contract/target.ts';
import { countRows } from '../../src/engine/ledger/rows.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import type { JobResult } from '../../src/engine/worker/job.ts';
import { keepReports } from '../../src/mirror/inbound/inbox.ts';
import { takeOutboxClaim } from '../../src/mirror/outbox/claims.ts';
import { listDeliveries } from '../../src/mirror/outbox/deliveries.ts';
import { blockTarget, disableTarget } from '../../src/mirror/outbox/target-states.ts';
import { reportRun } from '../../src/operator/run-report.ts';
import { aRun, freshLedger, putRows, rowsOf, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { anAccount, noTargets } from '../engine/worker/an-account.ts';
import { change, forgetDeliveries, queue } from '../mirror/outbox/delivery-worlds.ts';
import { settingsOf } from '../settings/problems-in.ts';

const WAITS: JobResult = { status: 'again', inMs: 0 };

const database = await freshLedger();
afterEach(() => forgetDeliveries(database));
afterAll(() => database.close());

/** A run that has seen these events, one task each, for the targets hook and mail. */
async function runWith(events: readonly TaskEvent[], targets: readonly string[] = ['hook', 'mail']): Promise<Run> {
  const run = await aRun(database, { phase: 'deliver-status', type: 'tasks', options: { targets } });
  const all = events.map((event, id) => change(id, 1, { event, runId: run.id, sync: run.sync }));
  await putRows(
    database,
    run,
    all.map(({ task }) => ({
      source_id: `task:${task.id}`,
      label: task.title,
      state: 'acked',
      action: null,
      fields: null,
    })),
  );
  await queue(database, all, targets);
  return run;
}

/** The delivery of a task to a target, by column. */
async function set(taskId: number, target: string, columns: Readonly<Record<string, unknown>>): Promise<void> {
  const names = Object.keys(columns);
  await database.pool.query(
    `update ledger.deliveries set ${names.map((name, n) => `${name} = $${n + 3}`).join(', ')} where task_id = $1 and target = $2`,
    [String(taskId), target, ...Object.values(columns)],
  );
}
const ended = (taskId: number, target: string, verdict: string, more = {}) =>
  set(taskId, target, { state: 'ended', verdict, ...more });

/** Registers a worker that serves the target. */
const serve = (target: string) =>
  takeOutboxClaim(database.pool, target, { worker: WORKER, ttlMs: 60_000, now: undefined });

async function job(run: Run): Promise<JobResult> {
  const account = { ...anAccount(), name: run.account };
  const signal = AbortSignal.abort(); // it checks once
  return deliverStatus.run({
    run,
    account,
    mostClaims: 1,
    targets: noTargets,
    need: async () => {},
    pool: database.pool,
    worker: WORKER,
    log: pino({ level: 'silent' }),
    signal,
  });
}

async function verdicts(run: Run): Promise<readonly string[]> {
  const rows = await rowsOf(database, run);
  return rows.map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' '));
}

describe('a run waits', () => {
  test.each<[string, Readonly<Record<string, unknown>>, JobResult['status']]>([
    ['for one that is due', { attempts: 0 }, 'again'],
    ['for one that is on its way', { state: 'sending', attempts: 3 }, 'again'],
    ['no longer for one that was tried and waits for its retry', { attempts: 1 }, 'finished'],
    ['not for one that has ended', { state: 'ended', verdict: 'dead' }, 'finished'],
  ])('%s', async (_what, columns, status) => {
    const run = await runWith(['changed'], ['hook']);
    await set(0, 'hook', columns);
    expect((await job(run)).status).toBe(status);
  });

  test('for a change at a target that a delivery has found', async () => {
    const run = await runWith(['changed'], ['hook']);
    await ended(0, 'hook', 'already');
    await keepReports(database.pool, 'hook', [{ itemId: '1', isCompleted: true, status: '' }], 'read');
    expect(await job(run)).toEqual(WAITS);
    await database.pool.query(`delete from ledger.item_reports`);
    expect((await job(run)).status).toBe('finished');
  });

  test('for a target that asks for a short pause, and not for a long one', async () => {
    const run = await runWith(['changed'], ['hook']);
    await serve('hook');
    await blockTarget(database.pool, 'hook', { forMs: 9_000, now: undefined });
    expect(await job(run)).toEqual(WAITS);
    await blockTarget(database.pool, 'hook', { forMs: 60_000, now: undefined });
    expect((await job(run)).status).toBe('finished');
  });

  test('for a worker that delivers, but not long, whenever a killed process queued the deliveries', async () => {
    const run = await runWith(['changed'], ['hook']);
    await set(0, 'hook', { created_at: new Date(Date.now() - 3_600_000) });
    expect(await job(run)).toEqual(WAITS);
    await database.pool.query(`update ledger.delivery_claims set expires_at = '-infinity'`); // those of the tests above
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(11_000);
    onTestFinished(() => now.mockRestore());
    const claim = await serve('hook');
    expect(await job(run)).toEqual(WAITS);
    await database.pool.query('update ledger.delivery_claims set expires_at = clock_timestamp() where id = $1', [
      claim.id,
    ]);
    now.mockReturnValueOnce(0);
    expect((await job(run)).status).toBe('finished');
    const facts = expect.objectContaining({ target: 'hook', unserved: true });
    expect(await rowsOf(database, run)).toMatchObject([{ verdict: 'review', reason: 'RETRYING', facts }]);
  });
});

describe('a row is settled', () => {
  test.each<[TaskEvent, string, string, string]>([
    ['created', 'delivered', 'already', 'created'],
    ['created', 'superseded', 'delivered', 'created'],
    ['changed', 'delivered', 'skipped', 'updated'],
    ['gone', 'superseded', 'skipped', 'updated'],
    ['completed', 'already', 'already', 'unchanged'],
    ['completed', 'already', 'skipped', 'unchanged NOT_LINKED'],
    ['completed', 'delivered', 'dead', 'review REFUSED'],
  ])('%s: %s and %s make %s', async (event, first, second, verdict) => {
    const reasons: Readonly<Record<string, string>> = {
      skipped: 'NOT_LINKED',
      dead: 'REFUSED',
      superseded: 'SUPERSEDED',
    };
    const run = await runWith([event]);
    await ended(0, 'hook', first, { reason: reasons[first] ?? null });
    await ended(0, 'mail', second, { reason: reasons[second] ?? null, detail: 'for this reason' });
    expect(await job(run)).toEqual({ status: 'finished' });
    expect(await verdicts(run)).toEqual([verdict]);
  });

  test('as retrying, with the time of the next attempt', async () => {
    const run = await runWith(['changed'], ['hook']);
    await set(0, 'hook', { attempts: 2, due_at: new Date('2100-01-01T00:00:00Z'), detail: 'it answered 503' });
    await job(run);
    const facts = { target: 'hook', said: 'it answered 503', attempts: 2, due: '2100-01-01T00:00:00Z' };
    expect(await rowsOf(database, run)).toMatchObject([{ verdict: 'review', reason: 'RETRYING', facts }]);
  });

  test('as waiting for a disabled target, with the remedy, which the run notes too', async () => {
    const run = await runWith(['changed', 'changed'], ['hook']);
    await ended(0, 'hook', 'delivered');
    await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
    await job(run);
    expect(await verdicts(run)).toEqual(['updated', 'review TARGET_DISABLED']);
    const [note] = (await readRun(database.pool, run.id)).notes;
    expect(note).toMatch(/^hook: 1 delivered, 1 not yet delivered; .*410.*: `lockstep deliveries enable hook`$/);
  });

  test('as waiting for a disabled target, with what that one says, while another target retries', async () => {
    const run = await runWith(['changed'], ['hook', 'mail']);
    await set(0, 'hook', { attempts: 2, detail: 'it answered 503' });
    await disableTarget(database.pool, 'mail', { reason: 'GONE', detail: 'it answered 410', now: undefined });
    await job(run);
    const facts = { target: 'mail', said: 'it answered 410' };
    expect(await rowsOf(database, run)).toMatchObject([{ verdict: 'review', reason: 'TARGET_DISABLED', facts }]);
  });

  test('for a person where its delivery is gone', async () => {
    const run = await runWith(['changed'], []);
    await job(run);
    expect(await verdicts(run)).toEqual(['review NO_DELIVERY']);
  });
});

test.each([1, 2])('%d dead letters with one reason are shown with a command that sends them again', async (dead) => {
  const run = await runWith(
    Array.from({ length: dead }, () => 'changed' as const),
    ['hook'],
  );
  for (let id = 0; id < dead; id++)
    await ended(id, 'hook', 'dead', { reason: 'NOT_ACCEPTED', detail: 'it answered 400' });
  await job(run);
  const report = await reportRun(
    database.pool,
    await readRun(database.pool, run.id),
    settingsOf('accounts: { acme: {} }'),
  );
  const lines = (await problemLines(database.pool, report, PLAIN_HINTS)).join('\n');
  const [{ id: delivery } = { id: '' }] = await listDeliveries(database.pool, { target: 'hook' }, 1);
  const named = dead === 1 ? `--id ${delivery}` : '--target hook --verdict dead';
  expect(lines).toContain(`${dead === 1 ? '1 row' : '2 rows'} not delivered:`);
  expect(lines).toMatch(/Fix the receiver\..*; then deliver it again: /);
  expect(lines).toContain(`deliver it again: \`lockstep deliveries replay ${named}\`.`);
  expect(lines).not.toContain('lockstep review');
});

test('then the run is done, every row is counted, and the run notes how many deliveries went to each target', async () => {
  const run = await runWith(['created', 'changed', 'completed']);
  for (const id of [0, 1, 2]) await ended(id, 'hook', 'delivered');
  await ended(0, 'mail', 'delivered');
  await ended(1, 'mail', 'dead', { reason: 'REFUSED' });
  await ended(2, 'mail', 'already');
  await job(run);
  expect(await countRows(database.pool, run.id)).toMatchObject({ in: 3, created: 1, updated: 1, review: 1 });
  const { status, notes, rowsSettled } = await readRun(database.pool, run.id);
  expect([status, notes, rowsSettled]).toEqual([
    'done',
    ['hook: 3 delivered', 'mail: 1 already, 1 dead, 1 delivered'],
    3,
  ]);
});
