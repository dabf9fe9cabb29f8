import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Client } from '../../../src/client/call/client.ts';
import { KeyRefused } from '../../../src/engine/account/failure.ts';
import { countClaims, dropClaims, takeClaim } from '../../../src/engine/ledger/claims.ts';
import { movePhase, readRun } from '../../../src/engine/ledger/runs.ts';
import { probeSoon, suspensionOf } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { exclusively } from '../../../src/engine/worker/exclusive.ts';
import { defineJob } from '../../../src/engine/worker/job.ts';
import { aRun, claimOn, WORKER } from '../ledger/fresh-ledger.ts';
import { anAccount } from './an-account.ts';
import { finish, inTurn, openRunners, work } from './open-runners.ts';

const { database, runners, running, ended } = await openRunners();

describe('an account that cannot continue', () => {
  const stuck = (until: Promise<void>) =>
    defineJob({
      name: 'wait',
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
    expect(await readRun(database.pool, run.id)).toMatchObject({
      status: 'running',
      notes: ['an attempt failed: fix the key'],
    });
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
    const rest = defineJob({ name: 'rest', options: z.unknown(), run: finish });
    for (let round = 0; round < 5; round++) {
      const run = await aRun(database);
      const all = runners.length > 0 ? runners : await Promise.all([1, 2, 3].map(() => running([alone, rest])));
      await Promise.all(all.map((runner) => runner.attend(run)));
      expect((await ended(run)).status).toBe('done');
    }
    expect(log).toEqual(Array(5).fill(['begins', 'ends']).flat());
  });
});
