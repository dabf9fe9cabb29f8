import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LockstepError } from '../../../src/base/errors.ts';
import type { Client } from '../../../src/client/call/client.ts';
import { KeyRefused, RetryLater, RunFailed, RunPaused } from '../../../src/engine/account/failure.ts';
import { countClaims, dropClaims, takeClaim } from '../../../src/engine/ledger/claims.ts';
import { endRun, resumeHint, resumeRun } from '../../../src/engine/ledger/run-status.ts';
import { movePhase, type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { probeSoon, suspensionOf } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { keepWitnesses } from '../../../src/engine/ledger/scopes/witnesses.ts';
import { exclusively } from '../../../src/engine/worker/exclusive.ts';
import { defineJob, type Job, type JobContext, type JobResult } from '../../../src/engine/worker/job.ts';
import { openQueue, type Queue } from '../../../src/engine/worker/queue.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../../../src/engine/worker/runner.ts';
import { aRun, claimOn, freshLedger, WORKER } from '../ledger/fresh-ledger.ts';
import { anAccount, noTargets } from './an-account.ts';

const log = pino({ level: 'silent' });

const queues: Queue[] = [];
let runners: Runner[] = [];
const database = await freshLedger();
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.close()));
  await Promise.all(queues.splice(0).map((queue) => queue.close()));
  runners = [];
  await database.pool.query('truncate ledger.runs cascade');
});
afterAll(() => database.close());

const accountNamed = async (scope: string) => ({ ...anAccount(), scope });

async function running(jobs: readonly Job[], more: Partial<RunnerNeeds> = {}): Promise<Runner> {
  const queue = openQueue({ redis: undefined, database: database.connection, log });
  queues.push(queue);
  const runner = await startRunner({
    pool: database.pool,
    queue,
    accounts: { open: accountNamed, reopen: accountNamed },
    targets: noTargets,
    catalog: { jobs },
    worksOn: 'every-run',
    concurrency: 8,
    patienceMs: () => 300_000,
    log,
    ...more,
  });
  runners.push(runner);
  return runner;
}

type Work = (context: JobContext<unknown>) => Promise<JobResult>;

const finish: Work = async ({ pool, run }) => {
  await endRun(pool, run.id, 'done');
  return { status: 'finished' };
};

/** The job of the phase in which runs begin. */
function work(run: Work, parallel = 1): Job {
  return defineJob({ name: 'work', summary: 'works', options: z.unknown(), parallel, run });
}

/** Returns or throws these, one after another, and then reports the run as finished. */
function inTurn(...turns: readonly (JobResult | Error)[]): Job {
  let turn = 0;
  return work(async (context) => {
    const next = turns[turn++];
    if (next instanceof Error) throw next;
    return next ?? finish(context);
  });
}

async function ended(run: Run): Promise<Run> {
  await expect.poll(async () => (await readRun(database.pool, run.id)).status).not.toBe('running');
  return readRun(database.pool, run.id);
}

async function carried(jobs: readonly Job[], more: Partial<RunnerNeeds> = {}): Promise<Run> {
  const runner = await running(jobs, more);
  const run = await aRun(database);
  await runner.attend(run);
  return ended(run);
}

describe('a run continues', () => {
  test('from phase to phase to its end', async () => {
    const seen: string[] = [];
    const first = work(async () => {
      seen.push('work');
      return { status: 'next', job: 'tidy' };
    });
    const second = defineJob({
      name: 'tidy',
      summary: 'tidies',
      options: z.unknown(),
      run: async (context) => {
        seen.push('tidy');
        return finish(context);
      },
    });
    expect(await carried([first, second])).toMatchObject({ status: 'done', phase: undefined });
    expect(seen).toEqual(['work', 'tidy']);
  });

  test.each(['another process has begun it', 'an outage'])(
    'after %s only if known records are still the same, although the service shows new orders',
    async (after) => {
      const run = await aRun(database);
      const keep = (kind: 'customers' | 'orders', keysOf: (id: string) => Record<string, string>) =>
        keepWitnesses(
          database.pool,
          run.scope,
          kind,
          ['1', '2'].map((id) => ({ id, keys: keysOf(id) })),
        );
      await keep('customers', (id) => ({ email: `c${id}@example.com` }));
      await keep('orders', (id) => ({ order: `9/n-${id}` }));
      const send = () =>
        database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 1, 'acked', 1)`, [
          run.id,
        ]);
      let host = 'example.org';
      const open = async (scope: string) => ({
        ...anAccount(async (_operation, { query }) => {
          const content = {
            id: query?.id ?? null,
            email: `c${query?.id}@${host}`,
            client_id: 9,
            order_id: `N-${query?.id}`,
          };
          return { status: 'applied', httpStatus: 200, content };
        }),
        scope,
      });
      let isSent = after !== 'an outage';
      if (isSent) await send();
      const job = work(async (context) => {
        if (isSent) return finish(context);
        isSent = true;
        await send();
        throw new RetryLater('the service is away', 0);
      });
      await running([job], { accounts: { open, reopen: open } });
      expect(await ended(run)).toMatchObject({ status: 'paused', errorCode: 'IDENTITY_UNCLEAR' });
      await resumeRun(database.pool, run.id);
      expect(await ended(run)).toMatchObject({ status: 'paused', errorCode: 'IDENTITY_UNCLEAR' });
      host = 'example.com';
      await resumeRun(database.pool, run.id);
      expect(await ended(run)).toMatchObject({ status: 'done' });
    },
  );

  test.each<[string, string, readonly string[], readonly string[]]>([
    ['paused', 'the list is empty', [], []],
    ['paused', 'the list has others, which are found by their ids', ['7'], ['7']],
    ['done', 'the list shows one of them', ['7', '2'], ['7']],
    ['done', 'nothing is found by its id', ['7'], []],
  ])('and is %s if no known record is found by its id, and %s', async (status, _, listed, found) => {
    const run = await aRun(database);
    const known = ['1', '2', '3'].map((id) => ({ id, keys: { email: `c${id}@example.com` } }));
    await keepWitnesses(database.pool, run.scope, 'customers', known);
    await database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 1, 'acked', 1)`, [
      run.id,
    ]);
    const records = listed.map((id) => ({ id }));
    const account = anAccount(async (_operation, { query }) => {
      const id = String(query?.id);
      if (!found.includes(id)) return { status: 'refused', httpStatus: 404, message: 'not found' };
      return { status: 'applied', httpStatus: 200, content: { id } };
    });
    const stream: Client['stream'] = async (_operation, options) => {
      if (options.query === undefined) await options.onRecords(records);
      return { status: 'applied', httpStatus: 200, records: options.query === undefined ? records.length : 0 };
    };
    const open = async (scope: string) => ({ ...account, scope, client: { ...account.client, stream } });
    await running([work(finish)], { accounts: { open, reopen: open } });
    const errorCode = status === 'paused' ? 'SERVICE_WENT_BACK' : undefined;
    expect(await ended(run)).toMatchObject({ status, errorCode });
  });

  test('if it was opened again right after its end', async () => {
    let turns = 0;
    // The first time, the run is as if it had been ended and opened again.
    const job = work(async (context) => (++turns === 1 ? { status: 'finished' } : finish(context)));
    expect((await carried([job])).status).toBe('done');
    expect(turns).toBe(2);
  });

  test('where an earlier process stopped', async () => {
    const run = await aRun(database);
    await running([inTurn()]);
    expect((await ended(run)).status).toBe('done');
  });

  test('with the options it was started with', async () => {
    const options = z.object({ size: z.number() });
    let size = 0;
    const job = defineJob({
      name: 'work',
      summary: 'works',
      options,
      run: async (context) => {
        size = context.options.size;
        return finish(context);
      },
    });
    const run = await aRun(database, { options: { size: 7 } });
    await running([job]);
    await ended(run);
    expect(size).toBe(7);
  });

  test('no further once it is cancelled, whatever its job returns', async () => {
    const job = work(async ({ run, pool }) => {
      await endRun(pool, run.id, 'cancelled');
      return { status: 'next', job: 'work' };
    });
    expect((await carried([job])).status).toBe('cancelled');
  });
});

describe('a job that cannot continue', () => {
  test.each([
    ['because of something to fix', new RunFailed('SERVICE_REFUSED', 'fix it'), 'SERVICE_REFUSED'],
    ['because of its settings', new LockstepError('SECRET_MISSING', 'set the variable'), 'SECRET_MISSING'],
  ])('%s ends the run with its message', async (_why, error, code) => {
    const run = await carried([inTurn(error)]);
    expect(run).toMatchObject({ status: 'failed', errorCode: code, error: error.message, phase: 'work' });
  });

  test('before a person has looked pauses the run, which continues when it is resumed', async () => {
    const run = await carried([inTurn(new RunPaused('DIALECT_DRIFTED', 'look at it'))]);
    expect(run).toMatchObject({ status: 'paused', errorCode: 'DIALECT_DRIFTED', error: 'look at it', phase: 'work' });
    expect(await resumeRun(database.pool, run.id)).toBe(true);
    expect(await ended(run)).toMatchObject({ status: 'done', error: undefined });
  });

  test('for now, for example because there is no budget, comes back without a failure', async () => {
    const waits = Array.from({ length: 5 }, () => new RetryLater('no token', 10, { isFailure: false }));
    const run = await carried([inTurn(...waits)], { patienceMs: () => -1 });
    expect(run).toMatchObject({ status: 'done', notes: [], failingSince: undefined });
  });

  test('because the service is away comes back, reports it once, and clears the failure when the service answers', async () => {
    const away = Array.from({ length: 3 }, () => new RetryLater('no answer', 10));
    const run = await carried([inTurn(...away, { status: 'again', inMs: 0 })], { patienceMs: () => 60_000 });
    expect(run).toMatchObject({ status: 'done', notes: ['no answer'], failingSince: undefined });
  });

  test('because the service is away too long fails, and says how to resume', async () => {
    const job = work(async () => {
      throw new RetryLater('no answer', 10);
    });
    const run = await carried([job], { patienceMs: () => 100 });
    expect(run).toMatchObject({ status: 'failed', errorCode: 'SERVICE_AWAY' });
    expect(run.error).toMatch(new RegExp(`no answer.*lockstep runs resume ${run.id}`));
  });

  test('because of a defect is retried, here or in another process', async () => {
    const run = await aRun(database);
    await running([inTurn(new TypeError('a defect'))]);
    await expect.poll(async () => (await readRun(database.pool, run.id)).notes).toEqual(['a defect']);
    await running([inTurn()]);
    expect(await ended(run)).toMatchObject({ status: 'done', failingSince: undefined });
  });

  test('because Postgres fails is no defect of Lockstep', async () => {
    const damaged = Object.assign(new Error('invalid page in block 3'), { code: 'XX001' });
    const run = await carried([inTurn(damaged)], { patienceMs: () => -1 });
    expect(run).toMatchObject({ status: 'failed', errorCode: 'DATABASE_FAILED' });
    expect(run.error).toMatch(/broken in the database: invalid page.*restore a backup\. Tried for/);
    expect(run.error?.endsWith(resumeHint(run.id))).toBe(true); // removed when the run can no longer be resumed
  });

  test('because of a repeated defect fails', async () => {
    const run = await carried([inTurn(new TypeError('a defect'))], { patienceMs: () => -1 });
    expect(run).toMatchObject({
      status: 'failed',
      errorCode: 'JOB_BROKE_OFF',
      error: expect.stringContaining('a defect'),
    });
  });
});

describe('an account that cannot continue', () => {
  const stuck = (until: Promise<void>) =>
    defineJob({
      name: 'wait',
      summary: 'waits for the budget',
      options: z.unknown(),
      waitsInPlace: true,
      run: async (context) => {
        await until;
        return finish(context);
      },
    });

  test('because there is no budget frees its worker slots, keeps its position, and delays no other account', async () => {
    let allow = (): void => undefined;
    const until = new Promise<void>((resolve) => {
      allow = resolve;
    });
    await running([stuck(until), inTurn()]);
    const waiting = await Promise.all(Array.from({ length: 12 }, () => aRun(database, { phase: 'wait' })));
    await expect.poll(() => readRun(database.pool, waiting[0]?.id ?? '')).toMatchObject({ status: 'running' });
    expect((await ended(await aRun(database, { account: 'other' }))).status).toBe('done');
    expect((await readRun(database.pool, waiting[11]?.id ?? '')).status).toBe('running');
    allow();
    for (const run of waiting) expect((await ended(run)).status).toBe('done');
  });

  test('because its key is refused waits, delays no other account, and resumes once the key is accepted', async () => {
    const key = { works: false };
    const answer: Client['stream'] = async () =>
      key.works
        ? { status: 'applied', httpStatus: 200, records: 0 }
        : { status: 'refused', httpStatus: 401, message: 'no such key' };
    const account = anAccount();
    const refusing = { ...account, client: { ...account.client, stream: answer } };
    const job = work(async (context) => {
      if (context.run.account !== 'other' && !key.works) throw new KeyRefused('fix the key');
      return finish(context);
    });
    const accounts = { open: async (scope: string) => ({ ...refusing, scope }), reopen: async () => refusing };
    await running([job], { accounts });
    const run = await aRun(database);
    await expect.poll(() => suspensionOf(database.pool, run.account)).toMatchObject({ message: 'fix the key' });
    expect((await ended(await aRun(database, { account: 'other' }))).status).toBe('done');
    expect(await readRun(database.pool, run.id)).toMatchObject({ status: 'running', notes: ['fix the key'] });
    key.works = true;
    await probeSoon(database.pool, run.account);
    expect([(await ended(run)).status, await suspensionOf(database.pool, run.account)]).toEqual(['done', undefined]);
  });
});

describe('processes', () => {
  test('a closing process finishes its job, and the run waits for another process', async () => {
    let began = (): void => undefined;
    const beginning = new Promise<void>((resolve) => {
      began = resolve;
    });
    const job = work(async ({ signal }) => {
      began();
      if (!signal.aborted) await once(signal, 'abort');
      return { status: 'again', inMs: 0 };
    });
    const run = await aRun(database);
    const first = await running([job]);
    await beginning;
    await first.close();
    expect(await readRun(database.pool, run.id)).toEqual({ ...run, attendedAt: expect.any(Date) });
    await running([inTurn()]);
    expect((await ended(run)).status).toBe('done');
  });

  test('take over what dead processes held', async () => {
    const run = await aRun(database);
    await claimOn(database, run, { kind: 'exclusive', worker: { ...WORKER, pid: 2 ** 22 + 1 } });
    const job = work((context) => exclusively(context, () => finish(context)));
    await running([job]);
    expect((await ended(run)).status).toBe('done');
  });

  test('several share one run, within its limit of parallel jobs', async () => {
    const seen = new Set<string>();
    let [atWork, most] = [0, 0];
    const job = work(async (context) => {
      seen.add(context.worker.id);
      most = Math.max(most, ++atWork);
      await delay(5); // a job takes its time
      atWork--;
      return seen.size === 2 && most === 4 ? finish(context) : { status: 'again', inMs: 0 };
    }, 2);
    const run = await aRun(database);
    await running([job]);
    await running([job]);
    expect((await ended(run)).status).toBe('done');
    expect(most).toBe(4);
  });

  test('work on every run before two work on one', async () => {
    const SLOTS = 8;
    const atWork = new Set<string>();
    let most = 0;
    let release = (): void => undefined;
    const every = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sending = work(async (context) => {
      const { pool, run, worker, mostClaims } = context;
      const claim = await takeClaim(pool, run.id, worker, { kind: 'shared', ttlMs: 60_000, most: mostClaims });
      if (!claim) return { status: 'idle' };
      most = Math.max(most, ...(await countClaims(pool)).values());
      if (atWork.add(run.id).size === 2 * SLOTS) release();
      await every;
      await dropClaims(pool, [claim.id]);
      return finish(context);
    }, 2);
    const runs = await Promise.all(Array.from({ length: 2 * SLOTS }, () => aRun(database)));
    await running([sending]);
    await running([sending]);
    for (const run of runs) expect((await ended(run)).status).toBe('done');
    expect(most).toBe(1);
  });

  test('work on no more jobs at once than the settings say', async () => {
    let [now, most] = [0, 0];
    const counting = work(async (context) => {
      most = Math.max(most, ++now);
      for (let look = 0; look < 5; look++) await readRun(context.pool, context.run.id);
      now--;
      return finish(context);
    });
    const runs = await Promise.all(Array.from({ length: 6 }, () => aRun(database)));
    await running([counting], { concurrency: 1 });
    for (const run of runs) expect((await ended(run)).status).toBe('done');
    expect(most).toBe(1);
  });

  test('never run exclusive work at the same time, and never repeat finished work', async () => {
    const log: string[] = [];
    const alone = work((context) =>
      exclusively(context, async (exclusive) => {
        log.push('begins');
        await exclusive.transaction(async (db) => {
          await delay(20);
          await movePhase(db, context.run.id, 'work', 'rest'); // at the claim's end it would be too late: another process may begin
        });
        log.push('ends');
        return { status: 'next', job: 'rest' };
      }),
    );
    const rest = defineJob({ name: 'rest', summary: 'rests', options: z.unknown(), run: finish });
    for (let round = 0; round < 5; round++) {
      const run = await aRun(database);
      const all = runners.length > 0 ? runners : await Promise.all([1, 2, 3].map(() => running([alone, rest])));
      await Promise.all(all.map((runner) => runner.attend(run)));
      expect((await ended(run)).status).toBe('done');
    }
    expect(log).toEqual(Array(5).fill(['begins', 'ends']).flat());
  });
});
