import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { thisWorker } from '../../src/engine/ledger/claims.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import {
  acknowledgeRun,
  endRun,
  pauseRun,
  resumeHint,
  resumeRun,
  supersedeRuns,
} from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { keepSchedules, makeDueStarts, pauseSync } from '../../src/engine/ledger/schedules.ts';
import { noteDown, noteUp } from '../../src/engine/ledger/scopes/down-services.ts';
import { liftSuspension, suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { queueAlerts } from '../../src/mirror/outbox/outbox.ts';
import { disableTarget, enableTargets, noteAnswering, noteFailing } from '../../src/mirror/outbox/target-states.ts';
import { openedMessage } from '../../src/operator/alerts/message.ts';
import { keyOf, type Problem } from '../../src/operator/alerts/problem.ts';
import { findProblems } from '../../src/operator/current-problems.ts';
import { requireResumable } from '../../src/operator/run-actions.ts';
import { statusOf } from '../../src/operator/status.ts';
import type { Queryable } from '../../src/storage/queryable.ts';
import { beginLoad } from '../../src/syncs/orders/begin-load.ts';
import { aRun, freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { aSpec } from '../engine/ledger/matching/load-worlds.ts';
import { change, queue } from '../mirror/outbox/delivery-worlds.ts';
import { settingsOf } from '../settings/problems-in.ts';

const SETTINGS = settingsOf(`accounts: { acme: {} }
syncs: { nightly: { type: contacts, account: acme } }
targets:
  hook: { type: webhook, url: https://hook.example, secret: { env: S } }
  mail: { type: webhook, url: https://mail.example, secret: { env: S } }`);
const NIGHTLY = { sync: 'nightly', account: 'acme', scope: 'acme' };

const database = await freshLedger();
beforeEach(async () => {
  await database.pool.query(`truncate ledger.runs, ledger.inputs, ledger.verdicts, ledger.audit_debts, ledger.schedules,
    ledger.paused_syncs, ledger.suspensions, ledger.target_states, ledger.service_states, ledger.deliveries, ledger.alerts, ledger.decisions cascade`);
});
afterAll(() => database.close());

const problems = () => findProblems(database.pool, SETTINGS);
const keys = async () => (await problems()).map(keyOf);

async function one(): Promise<Problem> {
  const [problem, ...more] = await problems();
  if (problem === undefined || more.length > 0) throw new Error(`expected one problem, found ${1 + more.length}`);
  return problem;
}

/** A process of this machine that has ended. */
const GONE = JSON.stringify({ ...thisWorker('gone'), pid: 2 ** 22 + 1 });

const begin = (more: Partial<Run> = {}) => aRun(database, { ...NIGHTLY, ...more });

/** A run of this sync that has ended with so many rows. */
async function done(rows: number, verdict: 'unchanged' | 'review' = 'unchanged'): Promise<Run> {
  const run = await begin();
  await addRows(
    database.pool,
    run.id,
    Array.from({ length: rows }, (_, n) => ({
      n,
      sourceId: String(n),
      label: 'Ann Lee',
      verdict,
      ...(verdict === 'review' && { reason: 'NO_KEY' }),
    })),
  );
  await endRun(database.pool, run.id, 'done');
  return run;
}

/** An audit finds a violation in the first row of the run. */
const violate = (run: string) =>
  database.pool.query(
    `insert into ledger.audit_debts (run_id, n, source_id, scope, resource, settle_ms, paid_at, violation)
       values ($1, 0, '0', 'acme', 'customers', 1000, now(), 'DUPLICATE')`,
    [run],
  );

describe('a run', () => {
  test('with rows for a person stays a problem when a later run of its sync fails', async () => {
    const { pool } = database;
    await done(1, 'review');
    await endRun(pool, (await begin()).id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
    expect((await problems()).map(({ event, command }) => [event, command.split(' ')[0]])).toEqual([
      ['run-failed', 'runs'],
      ['needs-review', 'review'],
    ]);
    await done(1);
    expect(await keys()).toEqual([]);
  });

  test('that failed is a problem until a later run of its sync is done', async () => {
    const { pool } = database;
    const run = await begin();
    await endRun(pool, run.id, 'failed', { code: 'SERVICE_REFUSED', message: 'the service refused the call: 500' });
    const problem = await one();
    expect(problem).toMatchObject({ event: 'run-failed', subject: 'nightly', run: run.id, cause: 'SERVICE_REFUSED' });
    expect(await problem.detail?.()).toBe('the service refused the call: 500');
    const [need] = (await statusOf(pool, SETTINGS)).needs;
    expect(need?.why).toBe('failed (SERVICE_REFUSED). The service refused a call that the run needs.');
    const next = await begin();
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
    await endRun(pool, next.id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('that failed is a problem until a run of another sync that has replaced it is done', async () => {
    const { pool } = database;
    const run = await begin();
    await endRun(pool, run.id, 'failed', { code: 'SERVICE_AWAY', message: `away.${resumeHint(run.id)}` });
    const about = { type: 'contacts', account: 'acme', lane: 'batch', dryRun: false, options: {} } as const;
    const other = await startRun(pool, { ...about, sync: 'other', resource: run.resource, phase: 'scan-contacts' });
    await supersedeRuns(pool, other.run);
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
    await endRun(pool, other.run.id, 'done');
    expect(await keys()).toEqual([]);
    const { error } = await readRun(pool, run.id);
    expect(error).toBe(`away. Since then, run ${other.run.id} has replaced it: there is nothing left to resume.`);
    await expect(requireResumable(pool, await readRun(pool, run.id), (command) => command)).rejects.toThrow(
      'A later run has decided its records again, so there is nothing left to resume. See: runs show',
    );
  });

  test('that a person has acknowledged is no problem until it ends again, or an audit finds a violation', async () => {
    const { pool } = database;
    const reviewed = await done(1, 'review');
    const failed = await begin();
    expect(await acknowledgeRun(pool, failed.id, 'known')).toBe(false); // it is unfinished
    await endRun(pool, failed.id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
    for (const { id } of [reviewed, failed]) expect(await acknowledgeRun(pool, id, 'known')).toBe(true);
    expect(await acknowledgeRun(pool, failed.id, 'known')).toBe(false);
    expect(await keys()).toEqual([]);
    await resumeRun(pool, failed.id);
    await endRun(pool, failed.id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
    await violate(reviewed.id);
    expect((await problems()).map(({ event }) => event)).toEqual(['run-failed', 'audit-violation']);
  });

  test('that failed long ago still counts if it was reported', async () => {
    const { pool } = database;
    const run = await begin();
    await endRun(pool, run.id, 'failed', { code: 'SERVICE_REFUSED', message: 'no' });
    const failed = await one();
    await pool.query(`update ledger.runs set ended_at = now() - interval '9 days'`);
    expect(await keys()).toEqual([]);
    const message = await openedMessage(failed, new Date(), (command) => command);
    await pool.query(`insert into ledger.alerts (key, message, causes, since) values ('k', $1, '{}', now())`, [
      message,
    ]);
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
  });

  test('that is paused, or awaits approval, is a problem until it is resumed', async () => {
    const { pool } = database;
    const run = await begin();
    await pauseRun(pool, run.id, { code: 'DIALECT_DRIFTED', message: 'another form' });
    expect(await one()).toMatchObject({ event: 'run-paused', command: `runs show ${run.id}`, isPassing: false });
    await resumeRun(pool, run.id);
    expect(await keys()).toEqual([]);
    await pauseRun(pool, run.id, { code: 'IDENTITY_CHANGED', message: 'may be a different tenant' });
    expect(await one()).toMatchObject({ command: `runs show ${run.id}` }); // to resume it alone would pause it again
    await resumeRun(pool, run.id);
    await pauseRun(pool, run.id, { code: 'RUN_OF_OTHER_TENANT', message: 'belongs to another tenant' });
    expect(await one()).toMatchObject({ command: `runs cancel ${run.id}` });
    await resumeRun(pool, run.id);
    await pauseRun(pool, run.id, { code: 'AWAITS_CONFIRMATION', message: 'It would write 90 of 100 contacts.' });
    expect(await keys()).toEqual(['awaits-approval:nightly:acme']);
  });

  test('that no process works on may pass by itself', async () => {
    const run = await begin();
    await database.pool.query(
      `update ledger.runs set attended_at = now() - interval '1 hour', created_at = now() - interval '1 hour'`,
    );
    expect(await one()).toMatchObject({ event: 'run-paused', run: run.id, cause: 'INTERRUPTED', isPassing: true });
  });

  test('that was resumed after its process ended is no problem while a worker takes it', async () => {
    const { pool } = database;
    const run = await begin();
    await pauseRun(pool, run.id, { code: 'DIALECT_DRIFTED', message: 'another form' });
    await pool.query('update ledger.runs set attended_by = $1', [GONE]);
    await resumeRun(pool, run.id);
    expect(await keys()).toEqual([]);
  });

  test('whose file is being read needs no one; if that process has ended, the file has to be loaded again', async () => {
    const { pool } = database;
    const { run } = await beginLoad(pool, aSpec({ account: 'acme' }));
    expect(await keys()).toEqual([]);
    expect((await statusOf(pool, SETTINGS)).running).toMatchObject([{ run: run.id, stateWords: 'reading the file' }]);
    await pool.query('update ledger.loads set receiver = $1', [GONE]);
    expect(await one()).toMatchObject({ event: 'run-paused', command: 'orders load orders.csv --account acme' });
  });

  test('with rows for a person says how many and why, and nothing of the records', async () => {
    await done(2, 'review');
    const problem = await one();
    expect(problem).toMatchObject({ event: 'needs-review', why: '2 in review' });
    const detail = await problem.detail?.();
    expect(detail).toMatch(/^2 × NO_KEY: .+\.$/);
    expect(detail).not.toContain('Ann');
  });

  test('in which an audit found a violation is a problem of its own', async () => {
    const { id } = await done(1);
    await violate(id);
    expect(await one()).toMatchObject({ event: 'audit-violation', why: expect.stringContaining('1 violation') });
    await database.pool.query(
      `insert into ledger.decisions (scope, kind, subject, run_id, n, reason, choice, decided_by)
       values ('acme', 'contact', '0', $1, 0, 'DUPLICATE', 'ignore', 'ann@office')`,
      [id],
    );
    expect(await keys()).toEqual([]);
  });

  test('that finds no contact, although an earlier one found many, is a problem until contacts are found', async () => {
    await done(9);
    await done(0);
    expect(await keys()).toEqual([]);
    await done(12);
    await done(5);
    await done(0);
    await done(0);
    expect(await one()).toMatchObject({ event: 'no-rows', why: 'found no contacts; an earlier run found 12' });
    await done(3);
    expect(await keys()).toEqual([]);
  });
});

describe('a sync', () => {
  const HOUR = 3_600_000;
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR);
  const schedule = { kind: 'every', everyMs: 24 * HOUR, missed: 'skip', jitterMs: 0 } as const;

  async function skip(): Promise<void> {
    const { pool } = database;
    await keepSchedules(pool, [{ sync: 'nightly', schedule }], ago(48));
    await makeDueStarts(pool, () => Promise.reject(new Error('it was missed by more than a minute')));
  }

  test('that was due and has not started is late until a run starts', async () => {
    await skip();
    expect(await one()).toMatchObject({ event: 'sync-late', subject: 'nightly', sync: 'nightly', isPassing: false });
    const run = await begin();
    expect(await keys()).toEqual([]);
    await endRun(database.pool, run.id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('that was due and waits for the run of another sync is late, and its alert names that run', async () => {
    const { pool } = database;
    const { id } = await aRun(database, { sync: 'other' });
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, missed: 'run-once' } }], ago(48));
    await makeDueStarts(pool, async () => ({ status: 'waits', run: id }));
    const problem = (await problems()).find(({ event }) => event === 'sync-late');
    expect(problem).toMatchObject({ sync: 'nightly', cause: 'RUN_IN_THE_WAY', command: `runs show ${id}` });
    expect(problem?.why).toContain(`run ${id}`);
  });

  test('that is due often is late once its starts have failed for five minutes, whatever its interval', async () => {
    const { pool } = database;
    const often = { ...schedule, everyMs: 60_000 };
    const minutesAgo = (minutes: number) => ago(minutes / 60);
    await keepSchedules(pool, [{ sync: 'nightly', schedule: often }], minutesAgo(12));
    for (let at = 11; at >= 0; at--)
      await makeDueStarts(pool, async () => ({ status: 'failed' }), { now: minutesAgo(at) });
    expect((await one()).since?.getTime()).toBeLessThanOrEqual(minutesAgo(10).getTime());
    await endRun(pool, (await begin()).id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('is not late because its own run was unfinished when it was due', async () => {
    const { pool } = database;
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, missed: 'run-once' } }], ago(72));
    const run = await begin();
    await pool.query(`update ledger.runs set created_at = now() - interval '3 days'`);
    await makeDueStarts(pool, async () => ({ status: 'made' }));
    await endRun(pool, run.id, 'done');
    expect(await keys()).toEqual([]);
  });

  test('is not late while it is paused, nor after its schedule has changed', async () => {
    const { pool } = database;
    await skip();
    await pauseSync(pool, 'nightly', undefined);
    expect(await keys()).toEqual([]);
    await pool.query('truncate ledger.paused_syncs');
    await keepSchedules(pool, [{ sync: 'nightly', schedule: { ...schedule, everyMs: 12 * HOUR } }]);
    expect(await keys()).toEqual([]);
  });

  test('is late if no process makes its starts', async () => {
    await keepSchedules(database.pool, [{ sync: 'nightly', schedule }], ago(48));
    expect(await keys()).toEqual(['sync-late:nightly']);
  });
});

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
      'failing: it answered 500; 1 delivery failed and will be retried',
      [],
    ]);
    expect(Math.round((Date.now() - (problem?.since?.getTime() ?? 0)) / 60_000)).toBe(5);
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

test('the status reads nothing twice', async () => {
  const asked: string[] = [];
  const query = async (text: string, values?: unknown[]) => {
    asked.push(text);
    return database.pool.query(text, values);
  };
  // Safe: only this form of `query` is used here.
  await statusOf({ query } as Queryable, SETTINGS);
  expect(asked.filter((text, index) => asked.indexOf(text) !== index)).toEqual([]);
});

test.for([
  [1, 'sync s0: no scheduler starts it'],
  [2, 'syncs s0, s1: no scheduler starts them'],
  [7, 'syncs s0, s1, s2, s3, s4 and 2 more: no scheduler starts them'],
] as const)('%i schedules without a scheduler need a person once', async ([count, words]) => {
  const sync = (n: number) => `s${n}: { type: contacts, account: acme, schedule: { cron: "${n} 2 1 1 *" } }`;
  const syncs = Array.from({ length: count }, (_, n) => sync(n)).join(', ');
  const { needs, unscheduled, hasScheduler } = await statusOf(
    database.pool,
    settingsOf(`accounts: { acme: {} }\nsyncs: { ${syncs} }`),
  );
  expect(needs.map(({ what, why }) => `${what}: ${why}`)).toEqual([
    expect.stringMatching(new RegExp(`^${words}: start`)),
  ]);
  expect([unscheduled.length, hasScheduler]).toEqual([count, false]);
});
