/** The problems of accounts, services, targets and channels. */
import { describe, expect, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { noteDown, noteUp } from '../../src/engine/ledger/scopes/down-services.ts';
import { liftSuspension, suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { queueAlerts } from '../../src/mirror/outbox/outbox.ts';
import { disableTarget, enableTargets, noteAnswering, noteFailing } from '../../src/mirror/outbox/target-states.ts';
import { keyOf } from '../../src/operator/alerts/problem.ts';
import { findProblems } from '../../src/operator/current-problems.ts';
import { change, queue } from '../mirror/outbox/delivery-worlds.ts';
import { settingsOf } from '../settings/problems-in.ts';
import { openProblems } from './problems-world.ts';

const { database, problems, keys, begin } = await openProblems();

test('accounts, services and targets are problems until they work again', async () => {
  const { pool } = database;
  await suspendAccount(pool, 'acme', 'it refused the key');
  await noteDown(pool, 'acme', 'connection refused');
  await noteFailing(pool, 'hook', { detail: 'it answered 503', now: undefined });
  await disableTarget(pool, 'mail', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  expect((await problems()).map((problem) => [keyOf(problem), problem.isPassing, problem.command])).toEqual([
    ['account-suspended:account acme', false, 'doctor --account acme'],
    ['service-down:account acme', true, 'doctor --account acme'],
    ['target-failing:target hook', true, 'deliveries --target hook'],
    ['target-disabled:target mail', false, 'deliveries enable mail'],
  ]);
  await liftSuspension(pool, 'acme');
  await noteUp(pool, 'acme');
  await noteAnswering(pool, 'hook');
  await enableTargets(pool, ['mail']);
  expect(await keys()).toEqual([]);
});

describe('a delivery that its target did not take', () => {
  const MIRROR = settingsOf(`accounts: { acme: {} }
syncs: { mirror: { type: tasks, account: acme, targets: [hook] } }
targets: { hook: { type: webhook, url: https://hook.example, secret: { env: S } } }`);
  const completions = { events: ['completed'], fields: {} } as const;
  const found = () => findProblems(database.pool, MIRROR);
  const update = (changes: string) => database.pool.query(`update ledger.deliveries set ${changes} where sequence = 1`);

  test('is a problem from its first failure until it arrives', async () => {
    await queue(database, [change(1)]);
    expect(await found()).toEqual([]);
    await update(`created_at = now() - interval '1 day', attempts = 2, due_at = now(), detail = 'it answered 500'`);
    const [problem, ...more] = await found();
    expect([problem?.event, problem?.why, more]).toEqual([
      'target-failing',
      'retrying: it answered 500; 1 delivery failed and will be retried',
      [],
    ]);
    expect(Math.round((Date.now() - (problem?.since?.getTime() ?? 0)) / 60_000)).toBe(5);
    await noteFailing(database.pool, 'hook', { detail: 'it answered 503', now: undefined });
    expect((await found())[0]?.why).toBe('failing: it answered 503; 1 delivery failed and will be retried');
    await noteAnswering(database.pool, 'hook');
    await update(`state = 'ended', verdict = 'delivered'`);
    expect(await found()).toEqual([]);
  });

  test('stays a problem as a dead letter, until a newer change of its task that the target receives', async () => {
    await queue(database, [change(1, 1, { event: 'completed' })], ['hook'], completions);
    await update(`state = 'ended', verdict = 'dead', ended_at = now(), detail = 'it answered 400'`);
    await queue(database, [change(1, 2)], ['hook'], completions);
    const dead = { isPassing: false, why: '1 dead letter, which will not be retried: it answered 400' };
    expect(await found()).toMatchObject([dead]);
    await queue(database, [change(1, 3, { event: 'completed' })], ['hook'], completions);
    expect(await found()).toEqual([]);
  });

  test('is no row that a person decides', async () => {
    const run = await begin({ sync: 'mirror', type: 'tasks' });
    const row = { n: 0, sourceId: 'task:1', label: 'Call', verdict: 'review', reason: 'RETRYING' } as const;
    await addRows(database.pool, run.id, [row]);
    await endRun(database.pool, run.id, 'done');
    expect(await found()).toEqual([]);
  });
});

test('a channel that did not accept its newest alert is a problem until it accepts one', async () => {
  const { pool } = database;
  const settings = settingsOf(
    'accounts: { acme: {} }\nalerts: { chat: { type: slack, url: { env: CHAT } }, mail: { type: slack, url: { env: CHAT } } }',
  );
  const found = async () => (await findProblems(pool, settings)).map((problem) => [keyOf(problem), problem.isPassing]);
  const alert = { key: 'k', sync: '', event: 'opened', message: { title: 't' } } as const;
  await queueAlerts(pool, [
    { ...alert, target: 'alerts.chat', sequence: 1 },
    { ...alert, target: 'alerts.mail', sequence: 1 },
  ]);
  expect(await found()).toEqual([]);
  await pool.query(`update ledger.deliveries set attempts = 1, detail = 'HTTP 503' where target = 'alerts.chat'`);
  await pool.query(`update ledger.deliveries set state = 'ended', verdict = 'dead' where target = 'alerts.mail'`);
  expect(await found()).toEqual([
    ['target-failing:target alerts.chat', true],
    ['target-failing:target alerts.mail', false],
  ]);
  await pool.query(`update ledger.deliveries set state = 'ended', verdict = 'delivered'`);
  expect(await found()).toEqual([]);
});

test('a service that no process watches any more is no problem', async () => {
  await noteDown(database.pool, 'acme', 'connection refused');
  await database.pool.query(`update ledger.service_states set seen_at = now() - interval '1 hour'`);
  expect(await keys()).toEqual([]);
});
