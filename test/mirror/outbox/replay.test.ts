import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { claimDue, takeOutboxClaim } from '../../../src/mirror/outbox/claims.ts';
import { listDeliveries } from '../../../src/mirror/outbox/deliveries.ts';
import { deliveryId, queueAlerts } from '../../../src/mirror/outbox/outbox.ts';
import { writeOutcomes } from '../../../src/mirror/outbox/outcomes.ts';
import { countOldDeliveries, pruneDeliveries } from '../../../src/mirror/outbox/prune.ts';
import { planReplay, replay } from '../../../src/mirror/outbox/replay.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { change, changes, deliveryRows, fates, forgetDeliveries, queue } from './delivery-worlds.ts';

const database = await freshLedger();
afterEach(() => forgetDeliveries(database));
afterAll(() => database.close());

/** Ends all waiting deliveries so, one state of a task after another. */
async function end(verdict: 'delivered' | 'dead', target = 'hook'): Promise<void> {
  const claim = await takeOutboxClaim(database.pool, target, { worker: WORKER, ttlMs: 30_000, now: undefined });
  for (;;) {
    const claimed = await claimDue(database.pool, claim, { limit: 1_000, now: undefined });
    if (claimed.length === 0) return;
    const outcomes = claimed.map(({ delivery }) => ({
      id: delivery.id,
      decision: { status: 'ended', verdict } as const,
    }));
    await writeOutcomes(database.pool, claim, outcomes, undefined);
  }
}

/** Task 1 in two states, both delivered one after the other. */
async function twoStates(target = 'hook'): Promise<void> {
  for (const version of [1, 2]) {
    await queue(database, [change(1, version)], [target]);
    await end('delivered', target);
  }
}

const TOLD_ALL = { events: ['hook'], versions: [] };
const TOLD_NEWEST = { events: [], versions: [] };

describe('a replay', () => {
  test('puts exactly the matching deliveries back in the queue, due now and with no attempt spent', async () => {
    await queue(database, [change(1)]);
    await end('dead');
    await queue(database, [change(2)]);
    await end('delivered');
    const replayed = { again: 1, superseded: 0, targets: ['hook'] };
    expect(await planReplay(database.pool, { verdict: 'dead' }, TOLD_NEWEST)).toEqual(replayed);
    expect(await fates(database)).toEqual(['1#1 dead', '2#1 delivered']);
    expect(await replay(database.pool, { verdict: 'dead' }, TOLD_NEWEST)).toEqual(replayed);
    expect(await fates(database)).toEqual(['1#1 waiting', '2#1 delivered']);
    expect((await deliveryRows(database))[0]).toMatchObject({ attempts: 0, reason: null, detail: null });
  });

  test('takes no delivery of another tenant for a newer state of the task', async () => {
    await queue(database, [change(1)]);
    await end('dead');
    await queue(database, [change(1, 2, { scope: 'another' })]);
    await end('delivered');
    const replayed = { again: 1, superseded: 0, targets: ['hook'] };
    expect(await replay(database.pool, { verdict: 'dead' }, TOLD_NEWEST)).toEqual(replayed);
    expect((await deliveryRows(database))[0]).toMatchObject({ state: 'waiting', newer_id: null });
  });

  test('makes a delivery that waits for its retry due now, if it is named', async () => {
    await queue(database, [change(1)]);
    await database.pool.query(`update ledger.deliveries set attempts = 3, due_at = now() + interval '1 day'`);
    expect(await replay(database.pool, { target: 'hook' }, TOLD_ALL)).toMatchObject({ again: 0 });
    const named = { ids: [deliveryId('hook', change(1))] };
    expect(await planReplay(database.pool, named, TOLD_NEWEST)).toMatchObject({ again: 1 });
    expect(await replay(database.pool, named, TOLD_NEWEST)).toMatchObject({ again: 1 });
    const [row] = await deliveryRows(database);
    expect([row?.attempts, row?.due_at.getTime()]).toEqual([
      0,
      expect.toSatisfy((at: number) => at <= Date.now() + 60_000),
    ]);
  });

  test('sends old states to a webhook again, in their order', async () => {
    await twoStates();
    expect(await replay(database.pool, { target: 'hook' }, TOLD_ALL)).toMatchObject({ again: 2, superseded: 0 });
    const claim = await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 30_000, now: undefined });
    const first = await claimDue(database.pool, claim, { limit: 10, now: undefined });
    expect(first.map(({ delivery }) => delivery.sequence)).toEqual([1]);
  });

  test.each([
    ['no webhook', TOLD_ALL, { again: 0, superseded: 1 }],
    ['a history', { events: [], versions: ['hook'] }, { again: 1, superseded: 0 }],
  ])('sends %s an old state if the newest one has arrived', async (_target, how, replayed) => {
    await queue(database, [change(1)]);
    await end('dead');
    await queue(database, [change(1, 2)]);
    await end('delivered');
    expect(await planReplay(database.pool, { verdict: 'dead' }, how)).toMatchObject(replayed);
    expect(await replay(database.pool, { verdict: 'dead' }, how)).toMatchObject(replayed);
    expect((await fates(database))[1]).toBe('1#2 delivered');
  });

  test('sends a webhook an old state before the newest one that waits', async () => {
    await queue(database, [change(1)]);
    await end('dead');
    await queue(database, [change(1, 2)]);
    expect(await replay(database.pool, { verdict: 'dead' }, TOLD_ALL)).toMatchObject({ again: 1, superseded: 0 });
    expect(await fates(database)).toEqual(['1#1 waiting', '1#2 waiting']);
  });

  test('resets no target with items to an old state, and reports what is newer', async () => {
    await twoStates();
    const old = { target: 'hook', until: new Date('2100-01-01') };
    expect(await replay(database.pool, old, TOLD_NEWEST)).toMatchObject({ again: 1, superseded: 1 });
    expect(await fates(database)).toEqual(['1#1 superseded', '1#2 waiting']);
    expect((await deliveryRows(database))[0]?.detail).toBe(`by ${deliveryId('hook', change(1, 2))}`);
  });

  test('leaves superseded deliveries out unless they are requested', async () => {
    await queue(database, [change(1)]);
    await queue(database, [change(1, 2)]);
    await end('delivered');
    expect(await planReplay(database.pool, { target: 'hook' }, TOLD_ALL)).toMatchObject({ again: 1 });
    const byId = { ids: [deliveryId('hook', change(1))] };
    expect(await planReplay(database.pool, byId, TOLD_ALL)).toMatchObject({ again: 1 });
    expect(await planReplay(database.pool, { verdict: 'superseded' }, TOLD_ALL)).toMatchObject({ again: 1 });
  });

  test('an old state that fails gives way to the newer one that waits too', async () => {
    await twoStates();
    await replay(database.pool, { target: 'hook' }, TOLD_ALL);
    const claim = await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 30_000, now: undefined });
    const [old] = await claimDue(database.pool, claim, { limit: 10, now: undefined });
    const decision = { status: 'again', afterMs: 5_000 } as const;
    await writeOutcomes(database.pool, claim, [{ id: old?.delivery.id ?? '', decision }], undefined);
    expect(await fates(database)).toEqual(['1#1 superseded', '1#2 waiting']);
  });

  test('an old state that fails and waits alone is retried', async () => {
    await twoStates();
    await replay(database.pool, { ids: [deliveryId('hook', change(1))] }, TOLD_ALL);
    const claim = await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 30_000, now: undefined });
    const [old] = await claimDue(database.pool, claim, { limit: 10, now: undefined });
    const decision = { status: 'again', afterMs: 5_000 } as const;
    await writeOutcomes(database.pool, claim, [{ id: old?.delivery.id ?? '', decision }], undefined);
    expect(await fates(database)).toEqual(['1#1 waiting', '1#2 delivered']);
  });

  test('does not change open deliveries', async () => {
    await queue(database, changes(3));
    expect(await replay(database.pool, { target: 'hook' }, TOLD_ALL)).toEqual({ again: 0, superseded: 0, targets: [] });
  });
});

test('lists deliveries newest first, by target, verdict and time', async () => {
  await queue(database, changes(2), ['hook', 'mail']);
  await end('dead');
  const listed = await listDeliveries(database.pool, { target: 'hook', verdict: 'dead' }, 10);
  expect(listed.map(({ source, title }) => `${source} ${title}`).sort()).toEqual([
    'task:0 Task 0, state 1',
    'task:1 Task 1, state 1',
  ]);
  expect(await listDeliveries(database.pool, { since: new Date('2100-01-01') }, 10)).toEqual([]);
  expect(await listDeliveries(database.pool, { until: new Date('2100-01-01') }, 3)).toHaveLength(3);
});

const MONTH_MS = 30 * 24 * 60 * 60 * 1000;
const setBack = () =>
  database.pool.query(
    `update ledger.deliveries set ended_at = ended_at - interval '31 days' where ended_at is not null`,
  );

test('removes deliveries that ended a month ago, except the newest of each task and target', async () => {
  await twoStates();
  await twoStates('mail');
  await queue(database, [change(2)]);
  expect(await pruneDeliveries(database.pool, MONTH_MS)).toBe(0);
  await setBack();
  expect(await countOldDeliveries(database.pool, MONTH_MS)).toBe(2);
  expect(await pruneDeliveries(database.pool, MONTH_MS)).toBe(2);
  expect(await fates(database)).toEqual(['1#2 delivered', '2#1 waiting', '1#2 delivered']);
});

test('removes alerts that ended a month ago, also the newest about a problem', async () => {
  const message = { title: 'nightly: run failed' };
  const alert = { target: 'alerts.ops', key: 'run-failed:nightly', sync: 'nightly', event: 'opened', message } as const;
  await queueAlerts(database.pool, [{ ...alert, sequence: 1 }]);
  await end('delivered', 'alerts.ops');
  await setBack();
  expect(await pruneDeliveries(database.pool, MONTH_MS)).toBe(1);
});

test('keeps the last delivery that reached its target, although newer ones failed', async () => {
  await twoStates();
  await queue(database, [change(1, 3)]);
  await end('dead');
  await queue(database, [change(1, 4)]);
  await end('dead');
  await setBack();
  expect(await pruneDeliveries(database.pool, MONTH_MS)).toBe(2);
  expect(await fates(database)).toEqual(['1#2 delivered', '1#4 dead']);
});
