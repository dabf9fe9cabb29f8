import { describe, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { CallContext, Delivery } from '../../../src/contract/target.ts';
import { replay } from '../../../src/mirror/outbox/replay.ts';
import { targetStates } from '../../../src/mirror/outbox/target-states.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { DeliveringBed } from './delivering-bed.ts';
import {
  type Answering,
  change,
  changes,
  DELIVERED,
  deliveryRows,
  FAILED,
  fates,
  noting,
  queue,
} from './delivery-worlds.ts';

const database = await freshLedger();
const bed = new DeliveringBed(database);
const { start, allEnded } = bed;

describe('delivering', () => {
  test('delivers existing deliveries and those queued later', async () => {
    const got: Delivery[] = [];
    await queue(database, [change(1)]);
    start({ hook: noting(got) });
    await bed.clock.passUntil(allEnded);
    await queue(database, [change(1, 2, { event: 'completed' })]);
    await bed.clock.passUntil(allEnded);
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
    await bed.clock.passUntil(allEnded);
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
    await bed.clock.passUntil(allEnded);
    await queue(database, [change(1, 2)]);
    await bed.clock.passUntil(allEnded);
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
    await bed.clock.passUntil(async () => (await fates(database)).some((fate) => fate.endsWith('sending')));
    let isClosed = false;
    void bed.started[0]?.close().then(() => {
      isClosed = true;
    });
    finish();
    await bed.clock.passUntil(() => isClosed);
    const ends = (await deliveryRows(database)).map(({ verdict, state }) => verdict ?? state);
    expect(ends.sort()).toEqual(['delivered', 'waiting', 'waiting']);
    expect((await database.pool.query('select 1 from ledger.delivery_claims')).rowCount).toBe(0);
  });

  test('a delivery that is interrupted by a lost database says so, and may still arrive', async () => {
    const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
    await queue(database, [change(1)]);
    start({ hook: () => Promise.reject(lost) });
    await bed.clock.passUntil(async () => (await deliveryRows(database)).every(({ attempts }) => attempts === 1));
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
    await bed.clock.passUntil(async () => (await deliveryRows(database)).every(({ attempts }) => attempts === 1));
    expect((await deliveryRows(database))[1]).toMatchObject({ state: 'waiting', reason: 'BROKE_OFF' });
    expect(JSON.stringify(await deliveryRows(database))).not.toContain('secret');
  });

  test('a delivery that fails ten times is a dead letter with its last answer', async () => {
    const hook: Answering = () => ({ ...FAILED, answer: { httpStatus: 503, text: 'busy\u0000' } });
    await queue(database, changes(1));
    await database.pool.query('update ledger.deliveries set attempts = 9');
    start({ hook });
    await bed.clock.passUntil(allEnded);
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
    await bed.clock.pass(5_000);
    expect(await targetStates(database.pool)).toMatchObject([
      { target: 'hook', failing: { detail: 'the variable HOOK_SECRET is not set' } },
    ]);
    isMended = true;
    await bed.clock.passUntil(allEnded);
    expect(await targetStates(database.pool)).toEqual([]);
  });
});

describe('a process that is killed between the claim and the outcome', () => {
  test('loses nothing: another process sends the same ids', async () => {
    const never = new Promise<typeof DELIVERED>(() => {});
    const [first, second]: [Delivery[], Delivery[]] = [[], []];
    await queue(database, changes(20));
    start({ hook: noting(first, () => never) });
    await bed.clock.passUntil(() => first.length === 4);
    bed.clock.die(); // its timers no longer fire: neither renewals nor writes
    bed.started = [];
    start({ hook: noting(second) });
    await bed.clock.passUntil(allEnded);
    expect(bed.clock.nowMs()).toBeLessThan(32_000);
    expect((await deliveryRows(database)).every(({ verdict }) => verdict === 'delivered')).toBe(true);
    expect(second).toEqual(expect.arrayContaining(first));
  });
});

test('a target learns whether another process may send its delivery by now', async () => {
  const asked: unknown[] = [];
  const deliver = async (_: Delivery, { mayDispatch }: CallContext) => {
    asked.push(mayDispatch?.());
    return DELIVERED;
  };
  const { source, claim, claimed, send } = await bed.claimOne(deliver, 1);
  for (const mayDispatch of [true, false]) await send(claimed, mayDispatch);
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
    await bed.clock.passUntil(() => called.length === 2);
    await database.pool.query(`update ledger.delivery_claims set expires_at = '-infinity'`);
    await bed.clock.passUntil(allEnded);
    expect([aborted, called.length]).toEqual([2, 4]);
    expect((await deliveryRows(database)).map(({ attempts }) => attempts)).toEqual([1, 1]);
  });
});

test('a replay sends the same ids again', async () => {
  const got: Delivery[] = [];
  await queue(database, changes(10));
  start({ hook: noting(got) });
  await bed.clock.passUntil(allEnded);
  const first = got.splice(0);
  await replay(database.pool, { target: 'hook' }, { events: [], versions: [] });
  await bed.clock.passUntil(allEnded);
  const ids = (all: readonly Delivery[]) => all.map(({ id }) => id).sort();
  expect(ids(got)).toEqual(ids(first));
});
