import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { openedMessage } from '../../../src/operator/alerts/message.ts';
import type { Problem } from '../../../src/operator/alerts/problem.ts';
import { openAlerts, PASSING_MS, reportChanges } from '../../../src/operator/alerts/report-changes.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { aRun } from '../../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { freshDatabase } from '../../support/database.ts';
import { FAILED_RUN } from './failed-run.ts';

const HOOK = 'type: webhook, url: "https://hook.example/", secret: { env: KEY }';
const SETTINGS = settingsOf(`
accounts: { acme: {} }
syncs: { nightly: { type: contacts, account: acme }, hourly: { type: contacts, account: acme } }
alerts:
  all: { ${HOOK} }
  failed: { ${HOOK}, events: [run-failed] }
  hourly: { ${HOOK}, syncs: [hourly] }
`);

const FAILING: Problem = {
  event: 'target-failing',
  subject: 'target hook',
  what: 'target hook',
  why: 'failing: it answered 503',
  cause: 'FAILING',
  since: new Date('2026-11-21T02:00:00Z'),
  isPassing: true,
  command: 'deliveries --target hook',
  target: 'hook',
};

const database = await freshDatabase();
beforeEach(() => database.pool.query('truncate ledger.alerts, ledger.deliveries'));
afterAll(() => database.close());

const minutes = (n: number) => new Date(Date.parse('2026-11-21T02:01:00Z') + n * 60_000);

/** Compares these problems at a minute. */
async function report(minute: number, ...problems: readonly Problem[]): Promise<void> {
  const complete = (command: string) => `lockstep ${command} --data ops`;
  const how = { channels: SETTINGS.alerts, complete, now: minutes(minute) };
  await inTransaction(database.pool, (db) => reportChanges(db, problems, how));
}

/** What was queued, in order: `all opened run-failed:nightly`. */
async function queued(): Promise<readonly string[]> {
  const found = await database.pool.query<{ said: string }>(
    `select substr(target, 8) || ' ' || event || ' ' || task_id as said from ledger.deliveries order by sequence, target`,
  );
  return found.rows.map(({ said }) => said);
}

const ofAll = async () => (await queued()).filter((said) => said.startsWith('all '));

test('a message has the page of the console about its problem, if the console has an address', async () => {
  const pageOf = async (problem: Problem, consoleUrl?: string) =>
    (await openedMessage(problem, new Date(), (command) => command, consoleUrl)).page;
  const { run: _, ...late } = FAILED_RUN;
  expect([
    await pageOf(FAILED_RUN),
    await pageOf(FAILED_RUN, 'https://ops.example'),
    await pageOf(FAILING, 'https://ops.example'),
    await pageOf(late, 'https://ops.example'),
  ]).toEqual([
    undefined,
    `https://ops.example/runs/${FAILED_RUN.run}`,
    'https://ops.example/targets/hook',
    'https://ops.example/syncs',
  ]);
});

describe('a problem', () => {
  test('is reported once while it lasts, and once when it has been gone for a while', async () => {
    await report(0, FAILED_RUN);
    await report(1, FAILED_RUN);
    await report(2);
    await report(6);
    expect(await ofAll()).toEqual(['all opened run-failed:nightly']);
    await report(7);
    await report(8);
    expect(await ofAll()).toEqual(['all opened run-failed:nightly', 'all recovered run-failed:nightly']);
    expect(await openAlerts(database.pool)).toEqual([]);
  });

  test('that returns soon after it has gone is the same problem', async () => {
    await report(0, FAILED_RUN);
    for (let minute = 1; minute < 60; minute += 2) {
      await report(minute);
      await report(minute + 1, FAILED_RUN);
    }
    expect(await ofAll()).toEqual(['all opened run-failed:nightly']);
  });

  test('is reported again when it recurs after it has recovered', async () => {
    await report(0, FAILED_RUN);
    await report(1);
    await report(6);
    await report(7, { ...FAILED_RUN, run: 'run-2' });
    expect((await ofAll()).map((said) => said.split(' ')[1])).toEqual(['opened', 'recovered', 'opened']);
  });

  test('is reported again for each new cause, once', async () => {
    const other = { ...FAILED_RUN, cause: 'DIALECT_DRIFTED', run: 'run-2' };
    for (const [minute, problem] of [FAILED_RUN, other, FAILED_RUN, other].entries()) await report(minute, problem);
    expect(await ofAll()).toEqual(['all opened run-failed:nightly', 'all opened run-failed:nightly']);
    const [open] = await openAlerts(database.pool);
    expect(open).toMatchObject({ causes: ['KEY_REFUSED', 'DIALECT_DRIFTED'], message: { run: 'run-2' } });
  });

  test('that may pass by itself is reported only if it lasts', async () => {
    await report(0, FAILING);
    await report(1);
    await report(2, FAILING);
    expect(await ofAll()).toEqual([]);
    await report(PASSING_MS / 60_000, FAILING);
    expect(await ofAll()).toEqual(['all opened target-failing:target hook']);
  });

  test('of a run that is opened again has not recovered until the run ends', async () => {
    const { id } = await aRun(database);
    await report(0, { ...FAILED_RUN, run: id });
    await report(1);
    await report(9);
    expect(await ofAll()).toHaveLength(1);
    await endRun(database.pool, id, 'done');
    await report(10);
    await report(15);
    expect(await ofAll()).toEqual(['all opened run-failed:nightly', 'all recovered run-failed:nightly']);
  });

  test('recovers in time even if the clock was set back', async () => {
    await report(0, FAILED_RUN);
    await report(60);
    await report(1);
    expect(await ofAll()).toHaveLength(2);
  });
});

describe('channels', () => {
  test('receive the events and syncs that their settings name', async () => {
    await report(0, FAILED_RUN, FAILING, { ...FAILED_RUN, sync: 'hourly', subject: 'hourly', event: 'run-paused' });
    await report(6, FAILED_RUN, FAILING);
    expect((await queued()).toSorted()).toEqual([
      'all opened run-failed:nightly',
      'all opened run-paused:hourly',
      'all opened target-failing:target hook',
      'failed opened run-failed:nightly',
      'hourly opened run-paused:hourly',
    ]);
  });

  test('do not report that they fail themselves', async () => {
    await report(6, { ...FAILING, event: 'target-disabled', isPassing: false, target: 'alerts.all' });
    expect(await queued()).toEqual([]);
    await report(7, { ...FAILING, event: 'run-failed', target: 'alerts.all', isPassing: false });
    expect(await queued()).toEqual(['failed opened run-failed:target hook']);
  });

  test('that could not be reached receive the newest message about a problem', async () => {
    await report(0, FAILED_RUN);
    await report(1);
    await report(6);
    const found = await database.pool.query(
      `select event, state, verdict, task->>'text' as text from ledger.deliveries where target = 'alerts.all' order by sequence`,
    );
    expect(found.rows).toMatchObject([
      { event: 'opened', state: 'ended', verdict: 'superseded' },
      { event: 'recovered', state: 'waiting' },
    ]);
    expect(found.rows[1]?.text).toBe(
      'It lasted from 2026-11-21 02:00:05 UTC to 2026-11-21 02:02:00 UTC. It was: Run run-1 of nightly: failed (key refused).',
    );
  });
});

describe('a message', () => {
  const textOf = async (said: string) => {
    await report(0, { ...FAILED_RUN, detail: async () => said });
    const [open] = await openAlerts(database.pool);
    return open?.message;
  };

  test('says what happened, and the command for this installation', async () => {
    expect(await textOf('Put the right key in, then: `lockstep runs resume run-1`')).toMatchObject({
      title: 'nightly: run failed',
      text: 'Run run-1 of nightly: failed (key refused). Put the right key in, then: `lockstep runs resume run-1 --data ops`',
      command: 'lockstep runs show run-1 --data ops',
      since: '2026-11-21T02:00:05.000Z',
    });
  });

  test('holds no address and no number that a service has repeated, and is short', async () => {
    const message = await textOf(
      `422: <ann.lee+x@mail.example.com> and +49 30 1234567 are taken. ${'x'.repeat(5_000)}`,
    );
    expect(message?.text).toMatch(/ 422: <\(address\)> and \(number\) are taken\. x+…$/);
    expect(message?.text).toHaveLength(1_500);
  });
});

test('an interrupted comparison changes nothing, and the next one queues the message', async () => {
  const broken = { ...FAILED_RUN, detail: () => Promise.reject(new Error('the connection is gone')) };
  await expect(report(0, FAILING, broken)).rejects.toThrow('the connection is gone');
  expect([await openAlerts(database.pool), await queued()]).toEqual([[], []]);
  await report(1, FAILED_RUN);
  expect(await ofAll()).toHaveLength(1);
});
