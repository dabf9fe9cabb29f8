/** The problems of runs. */
import { describe, expect, test } from 'vitest';
import { thisWorker } from '../../src/base/process-identity.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import {
  acknowledgeRun,
  endRun,
  pauseRun,
  resumeHint,
  resumeRun,
  supersedeRuns,
} from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { bindAccount } from '../../src/engine/ledger/scopes/scopes.ts';
import { openedMessage } from '../../src/operator/alerts/message.ts';
import { requireResumable } from '../../src/operator/run-actions.ts';
import { statusOf } from '../../src/operator/status.ts';
import type { Queryable } from '../../src/storage/queryable.ts';
import { beginLoad } from '../../src/syncs/orders/begin-load.ts';
import { aSpec } from '../engine/ledger/matching/load-worlds.ts';
import { openProblems, SETTINGS } from './problems-world.ts';

const { database, problems, one, keys, begin } = await openProblems();

/** A process of this machine that has ended. */
const GONE = JSON.stringify({ ...thisWorker('gone'), pid: 2 ** 22 + 1 });

/** A run of this sync that has ended with so many rows. */
async function done(rows: number, verdict: 'unchanged' | 'review' = 'unchanged'): Promise<Run> {
  const run = await begin();
  await addRows(
    database.pool,
    run.id,
    Array.from({ length: rows }, (_, n) => ({
      n,
      sourceId: `c${n}`,
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
       values ($1, 0, 'c0', 'acme', 'customers', 1000, now(), 'DUPLICATE')`,
    [run],
  );

/** A person decides about that row. */
const decide = (run: string) =>
  database.pool.query(
    `insert into ledger.decisions (scope, kind, subject, run_id, n, reason, choice, decided_by)
       values ('acme', 'contact', 'c0', $1, 0, 'DUPLICATE', 'ignore', 'ann@office')`,
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

  test('that failed is no problem once its sync has run for the tenant that its account is now', async () => {
    const { pool } = database;
    const away = { code: 'SERVICE_AWAY', message: 'away' };
    await endRun(pool, (await begin({ scope: 'acme' })).id, 'failed', away);
    await endRun(pool, (await begin({ scope: 'acme~2' })).id, 'cancelled', away);
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
    await endRun(pool, (await begin({ scope: 'acme~2' })).id, 'failed', away);
    expect(await keys()).toEqual(['run-failed:nightly:acme~2']);
    await endRun(pool, (await begin({ scope: 'acme~2' })).id, 'done');
    expect(await keys()).toEqual([]);
    await bindAccount(pool, 'acme', 'acme');
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
  });

  test('of a watched folder with a refused file is a problem until a file of its name is found again, or a person acknowledges it', async () => {
    const { pool } = database;
    const found = async (files: Readonly<Record<string, string>>): Promise<string> => {
      const { id } = await begin({ sync: 'files', type: 'orders', resource: 'sync:files', options: { folder: 'in' } });
      const rows = Object.entries(files).map(([label, reason], n) => ({ n, sourceId: `${n} ${label}`, label, reason }));
      const verdicts = { LOADED: 'created', ROWS_LEFT: 'review', CSV_BINARY: 'rejected' } as const;
      // Safe: the keys are the reasons that the test gives.
      const verdictOf = (reason: string) => verdicts[reason as keyof typeof verdicts];
      await addRows(
        pool,
        id,
        rows.map((row) => ({ ...row, verdict: verdictOf(row.reason) })),
      );
      await endRun(pool, id, 'done');
      return id;
    };
    const first = await found({ 'a.csv': 'CSV_BINARY', 'b.csv': 'LOADED' });
    const second = await found({ 'c.csv': 'CSV_BINARY' });
    await found({ 'd.csv': 'ROWS_LEFT' });
    await found({});
    expect((await problems()).map(({ run, event }) => [run, event])).toEqual([
      [second, 'needs-review'],
      [first, 'needs-review'],
    ]);
    expect(new Set(await keys()).size).toBe(2);
    await found({ 'a.csv': 'LOADED' });
    expect(await one()).toMatchObject({ run: second, why: '1 rejected' });
    await acknowledgeRun(pool, second, 'ann has seen it');
    expect(await keys()).toEqual([]);
  });

  test('of a sync that was renamed is no problem once a run of the other name has read its contacts', async () => {
    const { id } = await done(1, 'review');
    const filtered = await begin({ sync: 'germans', options: { where: { country: ['DE'] } } });
    await endRun(database.pool, filtered.id, 'done');
    expect(await one()).toMatchObject({ run: id, event: 'needs-review' });
    await endRun(database.pool, (await begin({ sync: 'nightly-contacts' })).id, 'done');
    expect(await keys()).toEqual([]);
    await violate(id);
    expect((await problems()).map(({ event }) => event)).toContain('audit-violation');
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
    const other = await begin({ sync: 'other' });
    await supersedeRuns(pool, other);
    expect(await keys()).toEqual(['run-failed:nightly:acme']);
    await endRun(pool, other.id, 'done');
    expect(await keys()).toEqual([]);
    const { error } = await readRun(pool, run.id);
    expect(error).toBe(`away. Since then, run ${other.id} has replaced it: there is nothing left to resume.`);
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
    expect(await one()).toMatchObject({
      event: 'run-paused',
      run: run.id,
      cause: 'INTERRUPTED',
      command: 'start',
      isPassing: true,
    });
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

  test('in which an audit found a violation is a problem until a person decides about it', async () => {
    const { id } = await done(1);
    await violate(id);
    expect(await one()).toMatchObject({ event: 'audit-violation', why: expect.stringContaining('1 violation') });
    await decide(id);
    expect(await keys()).toEqual([]);
  });

  test('whose rows in review are violations is one problem; its other rows are another one', async () => {
    const { id } = await done(1, 'review');
    await violate(id);
    expect(await one()).toMatchObject({ event: 'audit-violation', inReview: 1, command: 'review' });
    await database.pool.query(`update ledger.runs set counts = counts || '{"rejected": 1}' where id = $1`, [id]);
    expect((await problems()).map(({ event, why, command }) => [event, why, command])).toEqual([
      ['needs-review', '1 rejected', `runs show ${id}`],
      ['audit-violation', expect.anything(), 'review'],
    ]);
    const { id: other } = await done(3, 'review');
    await violate(other);
    expect((await problems()).map(({ event, why, inReview }) => [event, why, inReview])).toEqual([
      ['needs-review', '2 in review', 2],
      ['audit-violation', expect.stringContaining('1 violation'), 1],
    ]);
    await decide(other);
    expect(await one()).toMatchObject({ event: 'needs-review', why: '3 in review (1 of them decided)', inReview: 2 });
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
