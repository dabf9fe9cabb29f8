/** Targets that fail, ask for a pause, or accept nothing any more. */
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import type { Delivery, DeliveryOutcome } from '../../../src/contract/target.ts';
import { enableTargets, targetStates } from '../../../src/mirror/outbox/target-states.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { DeliveringBed } from './delivering-bed.ts';
import {
  type Answering,
  changes,
  DELIVERED,
  deliveringOf,
  deliveryRows,
  FAILED,
  noting,
  queue,
} from './delivery-worlds.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const database = await freshLedger();
const bed = new DeliveringBed(database);
const { start, allEnded } = bed;

describe('a target that is down for an hour', () => {
  test('does not affect the other target, and ends with the latest state of every task, once each', async () => {
    const got = { up: [] as Delivery[], down: [] as Delivery[] };
    const refused: Delivery[] = [];
    start({
      up: noting(got.up),
      down: (delivery) => {
        const isDown = bed.clock.nowMs() < HOUR;
        (isDown ? refused : got.down).push(delivery);
        return isDown ? FAILED : DELIVERED;
      },
    });
    const both = ['up', 'down'];
    for (let version = 1; version <= 6; version++) {
      await queue(database, changes(40, version), both);
      const upToNow = 40 * version;
      const from = bed.clock.nowMs();
      await bed.clock.passUntil(() => got.up.length === upToNow);
      expect(bed.clock.nowMs() - from).toBeLessThan(5_000);
      await bed.clock.pass(10 * MINUTE - (bed.clock.nowMs() - from), 15_000);
    }
    await bed.clock.passUntil(allEnded, 15_000);
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
  start({ hook: () => (bed.clock.nowMs() < MINUTE ? FAILED : DELIVERED) }, 2, { log });
  await bed.clock.passUntil(allEnded, 5_000);
  expect(messages).toEqual([expect.stringMatching(/^target is failing: /), 'target answers again']);
});

test('a target is failing for what it answers, not because deliveries were given up', async () => {
  await queue(database, changes(40));
  await database.pool.query('update ledger.deliveries set attempts = 9');
  start({ hook: () => FAILED });
  await bed.clock.passUntil(allEnded, 60_000);
  expect(await targetStates(database.pool)).toMatchObject([{ failing: { detail: FAILED.detail } }]);
}, 60_000);

describe('a target that asks for a pause', () => {
  const limited: Answering = () => ({
    ...FAILED,
    reason: 'HTTP_429',
    isLimited: true,
    retryAfterMs: bed.clock.nowMs() < MINUTE ? MINUTE - bed.clock.nowMs() : 0,
  });

  test('is not called until then, and no attempt is spent', async () => {
    const calledAt: number[] = [];
    const hook: Answering = (...args) => {
      calledAt.push(bed.clock.nowMs());
      return bed.clock.nowMs() < MINUTE ? limited(...args) : DELIVERED;
    };
    await queue(database, changes(100));
    start({ hook });
    await bed.clock.passUntil(allEnded);
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
    await bed.clock.pass(10_000);
    expect([calls > 2, calls <= 11]).toEqual([true, true]);
  });

  test('is failing if its server is away until then', async () => {
    const hook: Answering = () => ({ ...FAILED, reason: 'SERVER_ERROR', isLimited: true, retryAfterMs: 5_000 });
    await queue(database, changes(1));
    start({ hook });
    await bed.clock.pass(2_000);
    expect(await targetStates(database.pool)).toMatchObject([{ failing: { detail: FAILED.detail } }]);
    expect(await deliveryRows(database)).toMatchObject([{ state: 'waiting', attempts: 0 }]);
  });

  test('is not called by any other process either', async () => {
    const called: Delivery[] = [];
    await queue(database, changes(100));
    start({ hook: limited });
    await bed.clock.pass(1_000);
    bed.started.push(deliveringOf({ pool: database.pool, targets: { hook: noting(called) }, clock: bed.clock }));
    await bed.clock.pass(50_000);
    expect(called).toEqual([]);
    let isClosed = false; // else the first process may take them all again
    void bed.started[0]?.close().finally(() => (isClosed = true));
    await bed.clock.passUntil(() => isClosed);
    await bed.clock.passUntil(() => called.length > 0);
    expect(bed.clock.nowMs()).toBeGreaterThanOrEqual(MINUTE);
  });
});

describe('a target that no longer accepts deliveries', () => {
  const gone = { status: 'disabled', reason: 'GONE', detail: 'it answered 410' } as const;

  test('is not called any more, and its deliveries are kept', async () => {
    const called: Delivery[] = [];
    await queue(database, changes(50));
    start({ hook: noting(called, () => gone) });
    await bed.clock.pass(MINUTE);
    expect(called.length).toBeLessThanOrEqual(4);
    expect((await deliveryRows(database)).every((row) => row.state === 'waiting' && row.attempts === 0)).toBe(true);
    expect(await targetStates(database.pool)).toMatchObject([
      { disabled: { reason: 'GONE', detail: 'it answered 410' } },
    ]);
  });

  test('is not sent what was claimed before the ledger had it as disabled', async () => {
    const answers = [DELIVERED, gone];
    const { source, claim, claimed, send } = await bed.claimOne(async () => answers.shift() ?? DELIVERED, 3);
    const { outcome: delivered } = await send(claimed);
    if (delivered) await source.record(claim, [delivered]); // reads whether the target is disabled: not yet
    for (const next of await source.claim(claim, 1)) {
      const { outcome } = await send(next);
      expect(await source.claim(claim, 1)).toHaveLength(1);
      if (outcome) await source.record(claim, [outcome]);
    }
    expect(answers).toEqual([]);
    expect(source.admit()).toMatchObject({ status: 'wait' });
    await source.drop(claim);
  });

  test('resumes where it stopped once a person enables it', async () => {
    let answer: DeliveryOutcome = gone;
    await queue(database, changes(10));
    start({ hook: () => answer });
    await bed.clock.passUntil(async () => (await targetStates(database.pool)).length > 0);
    answer = DELIVERED;
    expect(await enableTargets(database.pool, ['hook'])).toEqual(['hook']);
    await bed.clock.passUntil(allEnded);
    expect((await deliveryRows(database)).every(({ verdict }) => verdict === 'delivered')).toBe(true);
  });
});
