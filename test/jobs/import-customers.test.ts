/** One job of a run by itself, with a client that answers as the test says. */
import pino from 'pino';
import { afterAll, expect, test } from 'vitest';
import { importCustomers } from '../../jobs/import-customers.ts';
import type { Outcome } from '../../src/client/call/outcome.ts';
import { RetryLater } from '../../src/engine/account/failure.ts';
import { claimRows } from '../../src/engine/ledger/rows.ts';
import { markFailing, type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { readLearnt } from '../../src/engine/ledger/scopes/learnt.ts';
import type { JobResult } from '../../src/engine/worker/job.ts';
import { aRun, claimOn, freshLedger, putRows, readyRows, rowsOf, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { anAccount, noTargets } from '../engine/worker/an-account.ts';

const database = await freshLedger();
afterAll(() => database.close());

const OPTIONS = { rowsPerPage: 500, importWith: 'auto', onChange: 'update', matchBy: ['email', 'phone'] };
const APPLIED: Outcome = { status: 'applied', httpStatus: 200, content: null };
const AWAY: Outcome = { status: 'not-sent', message: 'no answer', reason: 'unreachable' };
const REFUSED: Outcome = { status: 'refused', httpStatus: 404, message: 'no such route' };

const LATER = { status: 'stopped', stop: expect.any(RetryLater) };

async function aRunOf(count: number): Promise<Run> {
  const run = await aRun(database, { phase: 'import-customers', options: OPTIONS });
  await putRows(database, run, readyRows(count));
  return run;
}

/** Runs the job once against a service that gives these answers, one call after another. */
function job(run: Run, answer: (operation: string, call: number) => Outcome, concurrency = 1): Promise<JobResult> {
  let calls = 0;
  const account = {
    ...anAccount(async (operation) => answer(operation, ++calls)),
    concurrency,
    name: run.account,
    scope: run.scope,
  };
  const log = pino({ level: 'silent' });
  const { signal } = new AbortController();
  return importCustomers.run({
    run,
    account,
    mostClaims: 1,
    targets: noTargets,
    need: async () => {},
    pool: database.pool,
    worker: WORKER,
    log,
    signal,
  });
}

test('when everything is sent, the read-back is next', async () => {
  const run = await aRunOf(3);
  expect(await job(run, () => APPLIED)).toEqual({ status: 'next', job: 'settle-customers' });
  expect((await rowsOf(database, run)).map((row) => row.state)).toEqual(['acked', 'acked', 'acked']);
});

test('while another process still sends, it reports nothing', async () => {
  const run = await aRunOf(1);
  await claimRows(database.pool, await claimOn(database, run), 1);
  expect(await job(run, () => APPLIED)).toEqual({ status: 'idle' });
});

test('a service that goes away midway starts a new failure of the run after each success', async () => {
  const run = await aRunOf(3);
  await markFailing(database.pool, run.id, true);
  expect(await job(run, (_operation, call) => (call === 1 ? APPLIED : AWAY))).toEqual(LATER);
  expect((await readRun(database.pool, run.id)).failingSince).toBeUndefined();
});

test('a service that stays away leaves the run’s failure unchanged', async () => {
  const run = await aRunOf(3);
  await markFailing(database.pool, run.id, true);
  const { failingSince } = await readRun(database.pool, run.id);
  expect(await job(run, () => AWAY)).toEqual(LATER);
  expect((await readRun(database.pool, run.id)).failingSince).toEqual(failingSince);
});

test('an import refused because the customer exists creates none; a missing import route creates one', async () => {
  const refused = (httpStatus: number, message: string) => async () => {
    const asked: string[] = [];
    await job(await aRunOf(1), (operation) => {
      asked.push(operation);
      return operation === 'customers.import' ? { status: 'refused', httpStatus, message } : APPLIED;
    });
    return asked;
  };
  expect(await refused(422, 'contact has already been imported')()).toEqual(['customers.import']);
  expect(await refused(405, 'no such method exists')()).toEqual(['customers.import', 'customers.create']);
});

function refusingImports() {
  const seen: string[] = [];
  const answer = (operation: string) => {
    seen.push(operation);
    return operation === 'customers.import' ? REFUSED : APPLIED;
  };
  return { seen, answer };
}

test('importing refused repeatedly with the same message is off for the rest of the run, and for this run only', async () => {
  const run = await aRunOf(14);
  const { seen, answer } = refusingImports();
  await job(run, answer);
  expect([seen.length, new Set(seen.slice(0, 10)), new Set(seen.slice(10))]).toEqual([
    14,
    new Set(['customers.import']),
    new Set(['customers.create']),
  ]);
  const learnt = await readLearnt(database.pool, run.account);
  expect([learnt.get('import'), learnt.get('import-off')]).toEqual([undefined, run.id]);
});

test('contacts whose import is under way when importing turns out to be refused wait for the read-back', async () => {
  const run = await aRunOf(14);
  const { seen, answer } = refusingImports();
  await job(run, answer, 14);
  expect(seen).toEqual(Array(14).fill('customers.import'));
  expect((await rowsOf(database, run)).map((row) => row.state)).toEqual(Array(14).fill('unknown'));
});
