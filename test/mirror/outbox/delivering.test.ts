import type pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { CallContext, Delivery } from '../../../src/contract/target.ts';
import type { Delivering } from '../../../src/mirror/outbox/delivering.ts';
import { DeliverySource } from '../../../src/mirror/outbox/delivery-source.ts';
import { replay } from '../../../src/mirror/outbox/replay.ts';
import { enableTargets, targetStates } from '../../../src/mirror/outbox/target-states.ts';
import { makePool } from '../../../src/storage/pool.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import {
  type Answering,
  change,
  changes,
  DELIVERED,
  type DeliveringHow,
  deliveringOf,
  deliveryRows,
  FAILED,
  fates,
  forgetDeliveries,
  hasOpen,
  noting,
  queue,
} from './delivery-worlds.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let clock: VirtualClock;
let started: Delivering[] = [];
const pools: pg.Pool[] = [];
const database = await freshLedger();
afterEach(async () => {
  let open = started.length;
  for (const delivering of started) void delivering.close().finally(() => open--);
  await clock.passUntil(() => open === 0);
  started = [];
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await forgetDeliveries(database);
});
afterAll(() => database.close());

/** Delivers from this many processes on one virtual clock. */
function start(targets: Readonly<Record<string, Answering>>, count = 1, more: Partial<DeliveringHow> = {}): void {
  for (let n = 0; n < count; n++) pools.push(makePool({ ...database.connection, max: 3 }));
  clock = createVirtualClock([database.pool, ...pools]);
  started = pools.map((pool) => deliveringOf({ pool, targets, clock, ...more }));
}

const allEnded = async () => !(await hasOpen(database));

describe('delivering', () => {
  test('delivers existing deliveries and those queued later', async () => {
    const got: Delivery[] = [];
    await queue(database, [change(1)]);
    start({ hook: noting(got) });
    await clock.passUntil(allEnded);
    await queue(database, [change(1, 2, { event: 'completed' })]);
    await clock.passUntil(allEnded);
    const one = { account: 'demo', seenAt: change(1).seenAt, itemId: undefined };
    expect(got).toMatchObject([
      { ...one, sequence: 1, event: 'changed' },
      { ...one, sequence: 2, event: 'completed' },
    ]);
  });

  test('delivers to many targets without a warning of Node', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on('warning', note);
    const names = Array.from({ length: 30 }, (_, n) => `hook-${n}`);
    await queue(database, [change(1)], names);
    start(Object.fromEntries(names.map((name) => [name, () => DELIVERED])));
    await clock.passUntil(allEnded);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('links the item that a delivery came to, and includes it in the next delivery', async () => {
    const items: (string | undefined)[] = [];
    const hook: Answering = ({ itemId }) => {
      items.push(itemId);
      return { status: 'delivered', itemId: 'KEY-1' };
    };
    await queue(database, [change(1)]);
    start({ hook });
    await clock.passUntil(allEnded);
    await queue(database, [change(1, 2)]);
    await clock.passUntil(allEnded);
    expect(items).toEqual([undefined, 'KEY-1']);
  });

  test('when closed, gives back what it has claimed ahead, and finishes what is in flight', async () => {
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const hook: Answering = () => finished.then(() => DELIVERED);
    await queue(database, changes(3));
    start({ hook }, 1, { concurrency: 1 });
    await clock.passUntil(async () => (await fates(database)).some((fate) => fate.endsWith('sending')));
    let isClosed = false;
    void started[0]?.close().then(() => {
      isClosed = true;
    });
    finish();
    await clock.passUntil(() => isClosed);
    const ends = (await deliveryRows(database)).map(({ verdict, state }) => verdict ?? state);
    expect(ends.sort()).toEqual(['delivered', 'waiting', 'waiting']);
    expect((await database.pool.query('select 1 from ledger.delivery_claims')).rowCount).toBe(0);
  });

  test('a delivery that is interrupted by a lost database says so, and may still arrive', async () => {
    const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
    await queue(database, [change(1)]);
    start({ hook: () => Promise.reject(lost) });
    await clock.passUntil(async () => (await deliveryRows(database)).every(({ attempts }) => attempts === 1));
    const detail = expect.stringMatching(/^Lost the connection to the database: terminating connection\./);
    expect(await deliveryRows(database)).toMatchObject([
      { state: 'waiting', reason: 'ABORTED', detail, unclear_at: expect.any(Date) },
    ]);
  });

  test('a defect in a target costs an attempt and stops nothing else', async () => {
    const hook: Answering = ({ task, sequence }) => {
      if (task.id === '1' && sequence === 1) throw new Error('with a secret in it');
      return DELIVERED;
    };
    await queue(database, changes(2));
    start({ hook });
    await clock.passUntil(async () => (await deliveryRows(database)).every(({ attempts }) => attempts === 1));
    expect((await deliveryRows(database))[1]).toMatchObject({ state: 'waiting', reason: 'BROKE_OFF' });
    expect(JSON.stringify(await deliveryRows(database))).not.toContain('secret');
  });

  test('a delivery that fails ten times is a dead letter with its last answer', async () => {
    const hook: Answering = () => ({ ...FAILED, answer: { httpStatus: 503, text: 'busy\u0000' } });
    await queue(database, changes(1));
    await database.pool.query('update ledger.deliveries set attempts = 9');
    start({ hook });
    await clock.passUntil(allEnded);
    const dead = { verdict: 'dead', attempts: 10, reason: 'HTTP_503', answer: { httpStatus: 503, text: 'busy' } };
    expect(await deliveryRows(database)).toMatchObject([dead]);
  });

  test('reports a target that cannot be opened, and serves it once it can', async () => {
    let isMended = false;
    const open = async () => {
      if (!isMended) throw new LockstepError('SECRET_MISSING', 'the variable HOOK_SECRET is not set');
    };
    await queue(database, changes(1));
    start({ hook: () => DELIVERED }, 1, { open });
    await clock.pass(5_000);
    expect(await targetStates(database.pool)).toMatchObject([
      { target: 'hook', failing: { detail: 'the variable HOOK_SECRET is not set' } },
    ]);
    isMended = true;
    await clock.passUntil(allEnded);
    expect(await targetStates(database.pool)).toEqual([]);
  });
});

describe('a process that is killed between the claim and the outcome', () => {
  test('loses nothing: another process sends the same ids', async () => {
    const never = new Promise<typeof DELIVERED>(() => {});
    const [first, second]: [Delivery[], Delivery[]] = [[], []];
    await queue(database, changes(20));
    start({ hook: noting(first, () => never) });
    await clock.passUntil(() => first.length === 4);
    clock.die(); // its timers no longer fire: neither renewals nor writes
    started = [];
    start({ hook: noting(second) });
    await clock.passUntil(allEnded);
    expect(clock.nowMs()).toBeLessThan(32_000);
    expect((await deliveryRows(database)).every(({ verdict }) => verdict === 'delivered')).toBe(true);
    expect(second).toEqual(expect.arrayContaining(first));
  });
});

describe('a target that is down for an hour', () => {
  test('does not affect the other target, and ends with the latest state of every task, once each', async () => {
    const got = { up: [] as Delivery[], down: [] as Delivery[] };
    const refused: Delivery[] = [];
    start({
      up: noting(got.up),
      down: (delivery) => {
        const isDown = clock.nowMs() < HOUR;
        (isDown ? refused : got.down).push(delivery);
        return isDown ? FAILED : DELIVERED;
      },
    });
    const both = ['up', 'down'];
    for (let version = 1; version <= 6; version++) {
      await queue(database, changes(40, version), both);
      const upToNow = 40 * version;
      const from = clock.nowMs();
      await clock.passUntil(() => got.up.length === upToNow);
      expect(clock.nowMs() - from).toBeLessThan(5_000);
      await clock.pass(10 * MINUTE - (clock.nowMs() - from), 15_000);
    }
    await clock.passUntil(allEnded, 15_000);
    expect(new Set(got.down.map(({ task, sequence }) => `${task.id}#${sequence}`)).size).toBe(40);
    expect(got.down.every(({ sequence }) => sequence === 6)).toBe(true);
    expect(got.down).toHaveLength(40);
    expect(refused.length).toBeLessThan(200); // one probe a minute, not forty tasks every time
    expect(await targetStates(database.pool)).toEqual([]);
  }, 60_000);
});

test('of two processes one logs that a target is failing, and one that it answers again', async () => {
  const messages: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void messages.push(JSON.parse(line).msg) });
  await queue(database, changes(40));
  start({ hook: () => (clock.nowMs() < MINUTE ? FAILED : DELIVERED) }, 2, { log });
  await clock.passUntil(allEnded, 5_000);
  expect(messages).toEqual([expect.stringMatching(/^target is failing: /), 'target answers again']);
});

describe('a target that asks for a pause', () => {
  const limited: Answering = () => ({
    ...FAILED,
    reason: 'HTTP_429',
    isLimited: true,
    retryAfterMs: clock.nowMs() < MINUTE ? MINUTE - clock.nowMs() : 0,
  });

  test('is not called until then, and no attempt is spent', async () => {
    const calledAt: number[] = [];
    const hook: Answering = (...args) => {
      calledAt.push(clock.nowMs());
      return clock.nowMs() < MINUTE ? limited(...args) : DELIVERED;
    };
    await queue(database, changes(100));
    start({ hook });
    await clock.passUntil(allEnded);
    expect(calledAt.filter((atMs) => atMs < MINUTE).length).toBeLessThanOrEqual(4); // already in flight
    expect((await deliveryRows(database)).every(({ attempts }) => attempts === 1)).toBe(true);
  });

  test('is called again after a second where it asks for a pause of zero', async () => {
    let calls = 0;
    const hook: Answering = () => {
      calls++;
      return { ...FAILED, reason: 'HTTP_429', isLimited: true, retryAfterMs: 0 };
    };
    await queue(database, changes(1));
    start({ hook });
    await clock.pass(10_000);
    expect([calls > 2, calls <= 11]).toEqual([true, true]);
  });

  test('is failing if its server is away until then', async () => {
    const hook: Answering = () => ({ ...FAILED, reason: 'SERVER_ERROR', isLimited: true, retryAfterMs: 5_000 });
    await queue(database, changes(1));
    start({ hook });
    await clock.pass(2_000);
    expect(await targetStates(database.pool)).toMatchObject([{ failing: { detail: FAILED.detail } }]);
    expect(await deliveryRows(database)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  });

  test('is not called by any other process either', async () => {
    const called: Delivery[] = [];
    await queue(database, changes(100));
    start({ hook: limited });
    await clock.pass(1_000);
    started.push(deliveringOf({ pool: database.pool, targets: { hook: noting(called) }, clock }));
    await clock.pass(50_000);
    expect(called).toEqual([]);
    let isClosed = false; // else the first process may take them all again
    void started[0]?.close().finally(() => (isClosed = true));
    await clock.passUntil(() => isClosed);
    await clock.passUntil(() => called.length > 0);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(MINUTE);
  });
});

test('a target learns whether another process may send its delivery by now', async () => {
  clock = createVirtualClock([database.pool], new Date(Date.now() + HOUR)); // so that what is queued now is due
  const asked: unknown[] = [];
  const open = async () => ({
    async deliver(_: Delivery, { mayDispatch }: CallContext) {
      asked.push(mayDispatch?.());
      return DELIVERED;
    },
    close: async () => {},
  });
  const { pool } = database;
  const log = pino({ level: 'silent' });
  const source = new DeliverySource({ pool, worker: WORKER, clock, log, target: 'hook', open, random: () => 0.5 });
  await queue(database, changes(1));
  const claim = await source.takeClaim();
  const [claimed] = claim ? await source.claim(claim, 1) : [];
  if (claim === undefined || claimed === undefined) throw new Error('nothing was claimed');
  const how = { dispatchBefore: 0, signal: new AbortController().signal, isHeld: () => true };
  for (const mayDispatch of [true, false]) await source.send(claimed, { ...how, mayDispatch: () => mayDispatch });
  await source.drop(claim);
  expect(asked).toEqual([true, false]);
});

describe('a claim that was taken over', () => {
  test('aborts deliveries in flight, and no other process sends the claimed ones twice', async () => {
    const called: Delivery[] = [];
    let aborted = 0;
    const untilAborted: Answering = (_delivery, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(aborted++ === 0 ? DELIVERED : FAILED));
      });
    await queue(database, changes(2));
    start({ hook: noting(called, (...args) => (called.length <= 2 ? untilAborted(...args) : DELIVERED)) });
    await clock.passUntil(() => called.length === 2);
    await database.pool.query(`update ledger.delivery_claims set expires_at = '-infinity'`);
    await clock.passUntil(allEnded);
    expect([aborted, called.length]).toEqual([2, 4]);
    expect((await deliveryRows(database)).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});

describe('a target that no longer accepts deliveries', () => {
  const gone: Answering = () => ({ status: 'disabled', reason: 'GONE', detail: 'it answered 410' });

  test('is not called any more, and its deliveries are kept', async () => {
    const called: Delivery[] = [];
    await queue(database, changes(50));
    start({ hook: noting(called, gone) });
    await clock.pass(MINUTE);
    expect(called.length).toBeLessThanOrEqual(4);
    expect((await deliveryRows(database)).every((row) => row.state === 'waiting' && row.attempts === 0)).toBe(true);
    expect(await targetStates(database.pool)).toMatchObject([
      { disabled: { reason: 'GONE', detail: 'it answered 410' } },
    ]);
  });

  test('resumes where it stopped once a person enables it', async () => {
    let answer = gone;
    await queue(database, changes(10));
    start({ hook: (...args) => answer(...args) });
    await clock.passUntil(async () => (await targetStates(database.pool)).length > 0);
    answer = () => DELIVERED;
    expect(await enableTargets(database.pool, ['hook'])).toEqual(['hook']);
    await clock.passUntil(allEnded);
    expect((await deliveryRows(database)).every(({ verdict }) => verdict === 'delivered')).toBe(true);
  });
});

test('a replay sends the same ids again', async () => {
  const got: Delivery[] = [];
  await queue(database, changes(10));
  start({ hook: noting(got) });
  await clock.passUntil(allEnded);
  const first = got.splice(0);
  await replay(database.pool, { target: 'hook' }, { tellsOldStates: [] });
  await clock.passUntil(allEnded);
  const ids = (all: readonly Delivery[]) => all.map(({ id }) => id).sort();
  expect(ids(got)).toEqual(ids(first));
});
