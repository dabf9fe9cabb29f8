import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TargetAnswer } from '../../../src/contract/target.ts';
import { keepScannedLists } from '../../../src/engine/ledger/tasks/task-lists.ts';
import { claimDue, takeOutboxClaim } from '../../../src/mirror/outbox/claims.ts';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import { showDelivery } from '../../../src/mirror/outbox/deliveries.ts';
import { deliveryId, queueDeliveries } from '../../../src/mirror/outbox/outbox.ts';
import { writeOutcomes } from '../../../src/mirror/outbox/outcomes.ts';
import { pruneDeliveries } from '../../../src/mirror/outbox/prune.ts';
import { replay } from '../../../src/mirror/outbox/replay.ts';
import type { Decision } from '../../../src/mirror/outbox/retry-policy.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { deliveryOf } from '../../support/item-vendor.ts';
import { change, changes, deliveryRows, fates, forgetDeliveries, queue } from './delivery-worlds.ts';

const database = await freshLedger();
afterEach(() => forgetDeliveries(database));
afterAll(() => database.close());

const claimOne = async () => {
  const claim = await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 30_000, now: undefined });
  const [one] = await claimDue(database.pool, claim, { limit: 1, now: undefined });
  return { claim, id: one?.delivery.id ?? '' };
};

test('an id is stable, and differs by task, version, sync, account and target', () => {
  const one = change(1);
  expect(deliveryId('hook', one)).toMatch(/^msg_[\w-]{24}$/);
  expect(deliveryId('hook', { ...one, runId: 'run-2', seenAt: new Date() })).toBe(deliveryId('hook', one));
  const others = [change(2), change(1, 2), change(1, 1, { sync: 'other' }), change(1, 1, { scope: 'other' })];
  const ids = [deliveryId('hook', one), deliveryId('mail', one), ...others.map((other) => deliveryId('hook', other))];
  expect(new Set(ids).size).toBe(6);
});

test('queues each change once for each target, however often it is reported', async () => {
  await queue(database, changes(1_500), ['hook', 'mail']);
  await queue(database, changes(1_500), ['hook', 'mail']);
  const rows = await deliveryRows(database);
  expect(rows).toHaveLength(3_000);
  expect(rows.every((row) => row.state === 'waiting')).toBe(true);
});

test('queues nothing where the transaction that saw the change is rolled back', async () => {
  const broken = inTransaction(database.pool, async (db) => {
    await queueDeliveries(db, [{ name: 'hook', filter: undefined }], [change(1)]);
    throw new Error('broken');
  });
  await expect(broken).rejects.toThrow('broken');
  expect(await fates(database)).toEqual([]);
});

test('a newer state replaces a waiting one, and says which', async () => {
  await queue(database, [change(1), change(2)]);
  await queue(database, [change(1, 2)]);
  expect(await fates(database)).toEqual(['1#1 superseded', '1#2 waiting', '2#1 waiting']);
  const [old] = await deliveryRows(database);
  expect(old).toMatchObject({ reason: 'SUPERSEDED', detail: `by ${deliveryId('hook', change(1, 2))}` });
});

describe('a change that the target does not receive', () => {
  const completions = { events: ['completed'], fields: {} } as const;
  const completed = change(1, 1, { event: 'completed' });

  test('is skipped, and replaces no waiting change', async () => {
    await queue(database, [completed], ['hook'], completions);
    await queue(database, [change(1, 2)], ['hook'], completions);
    expect(await fates(database)).toEqual(['1#1 waiting', '1#2 skipped']);
    const [, skipped] = await deliveryRows(database);
    expect(skipped).toMatchObject({ reason: 'FILTERED', detail: expect.stringContaining('receives completed') });
  });

  test('does not end the retries of a change that is in flight', async () => {
    await queue(database, [completed], ['hook'], completions);
    const { claim, id } = await claimOne();
    await queue(database, [change(1, 2)], ['hook'], completions);
    const decision = { status: 'again', afterMs: 5_000, reason: 'HTTP_503', detail: '' } as const;
    await writeOutcomes(database.pool, claim, [{ id, decision }], undefined);
    expect(await fates(database)).toEqual(['1#1 waiting', '1#2 skipped']);
  });

  test('does not stop a replay of an older change', async () => {
    await queue(database, [completed], ['hook'], completions);
    await queue(database, [change(1, 2)], ['hook'], completions);
    await database.pool.query(`update ledger.deliveries set state = 'ended', verdict = 'dead' where sequence = 1`);
    expect(await replay(database.pool, { verdict: 'dead' }, { events: [], versions: [] })).toMatchObject({ again: 1 });
    const { claim, id } = await claimOne();
    const decision = { status: 'again', afterMs: 5_000, reason: 'HTTP_503', detail: '' } as const;
    await writeOutcomes(database.pool, claim, [{ id, decision }], undefined);
    expect(await fates(database)).toEqual(['1#1 waiting', '1#2 skipped']);
  });
});

test('sends only the newest of several states of a task that are queued together', async () => {
  await queue(database, [change(1, 2), change(1, 1), change(1, 3)]);
  expect(await fates(database)).toEqual(['1#1 superseded', '1#2 superseded', '1#3 waiting']);
});

test('the same id in another sync, or of another kind, is another task', async () => {
  const subtask = change(1, 3);
  await queue(database, [change(1, 1, { sync: 'other' })]);
  await queue(database, [change(1, 2), { ...subtask, task: { ...subtask.task, kind: 'subtask' } }]);
  expect((await deliveryRows(database)).every(({ state }) => state === 'waiting')).toBe(true);
});

describe('a sync that was renamed', () => {
  const former = (version: number) => change(1, version, { sync: 'former' });
  const end = (verdict: string, sync = 'former') =>
    database.pool.query(
      `update ledger.deliveries set state = 'ended', verdict = $1, ended_at = now() where sync = $2`,
      [verdict, sync],
    );
  beforeAll(async () => {
    for (const sync of ['former', 'mirror']) await keepScannedLists(database.pool, { scope: 'demo', sync }, ['tasks']);
  });

  test('replaces the states that wait under its former name, and not those of another account', async () => {
    await queue(database, [former(7), change(1, 1, { sync: 'former', scope: 'other' }), change(2, 7)]);
    await queue(database, [change(1)]);
    const rows = await database.pool.query(
      'select scope, sync, task_id, verdict from ledger.deliveries order by scope, sync, task_id',
    );
    expect(rows.rows).toEqual([
      { scope: 'demo', sync: 'former', task_id: '1', verdict: 'superseded' },
      { scope: 'demo', sync: 'mirror', task_id: '1', verdict: null },
      { scope: 'demo', sync: 'mirror', task_id: '2', verdict: null },
      { scope: 'other', sync: 'former', task_id: '1', verdict: null },
    ]);
  });

  test('sends nothing of a task while a state of it under its former name is in flight', async () => {
    await queue(database, [former(7)]);
    await claimOne();
    await queue(database, [change(1)]);
    expect((await claimOne()).id).toBe('');
    expect(await fates(database)).toEqual(['1#1 waiting', '1#7 sending']);
  });

  test('knows what was delivered under its former name, until it has delivered a state itself', async () => {
    const log = creationLog(database.pool, 'hook');
    const lastBefore = (version: number) =>
      log.lastDelivered(deliveryOf({}, { id: deliveryId('hook', change(1, version)) }));
    await queue(database, [former(7)]);
    await end('delivered');
    await queue(database, [change(1)]);
    expect(await lastBefore(1)).toEqual({ id: deliveryId('hook', former(7)), task: former(7).task });
    await end('delivered', 'mirror');
    await queue(database, [change(1, 2)]);
    expect(await lastBefore(2)).toEqual({ id: deliveryId('hook', change(1)), task: change(1).task });
  });

  test('has no dead letter under its former name sent to an item that has a newer state', async () => {
    await queue(database, [former(7)]);
    await end('dead');
    await queue(database, [change(1)]);
    expect(await replay(database.pool, { verdict: 'dead' }, { events: [], versions: [] })).toMatchObject({
      again: 0,
      superseded: 1,
    });
  });
});

test('a delivery in flight is not replaced, but not retried either', async () => {
  await queue(database, [change(1)]);
  const { claim, id } = await claimOne();
  await queue(database, [change(1, 2)]);
  expect(await fates(database)).toEqual(['1#1 sending', '1#2 waiting']);
  const decision = { status: 'again', afterMs: 5_000, reason: 'HTTP_503', detail: '' } as const;
  await writeOutcomes(database.pool, claim, [{ id, decision }], undefined);
  expect(await fates(database)).toEqual(['1#1 superseded', '1#2 waiting']);
});

test('an outcome that meets the transaction of a newer state is written after it, and knows of it', async () => {
  await queue(database, [change(1), change(2)]);
  const { claim, id } = await claimOne();
  const decision = { status: 'again', afterMs: 5_000, reason: 'HTTP_503', detail: '' } as const;
  const write = () => writeOutcomes(database.pool, claim, [{ id, decision }], undefined);
  await inTransaction(database.pool, async (db) => {
    await queueDeliveries(db, [{ name: 'hook', filter: undefined }], [change(1, 2), change(2, 2)]);
    expect(await write()).toEqual({ status: 'written', left: new Set([id]) });
  });
  expect(await write()).toEqual({ status: 'written', left: new Set() });
  expect((await fates(database)).filter((fate) => fate.endsWith('superseded'))).toHaveLength(2);
});

test('keeps its last 20 attempts without success, with their answers, and none that succeeded', async () => {
  await queue(database, [change(1)]);
  const { claim, id } = await claimOne();
  const write = async (decision: Decision, answer?: TargetAnswer) => {
    await database.pool.query(`update ledger.deliveries set state = 'sending', claim_id = $1`, [claim.id]);
    await writeOutcomes(database.pool, claim, [{ id, decision, answer }], undefined);
  };
  for (let n = 1; n <= 22; n++)
    await write({ status: 'limited', afterMs: 0, reason: 'LIMITED', detail: `no. ${n}` }, { httpStatus: 429 });
  await write({ status: 'ended', verdict: 'delivered' }, { httpStatus: 200 });
  const failures = (await showDelivery(database.pool, id))?.failures ?? [];
  expect(failures.map(({ detail }) => detail)).toEqual(Array.from({ length: 20 }, (_, i) => `no. ${i + 3}`));
  expect(failures[0]).toMatchObject({ reason: 'LIMITED', answer: { httpStatus: 429 } });
  expect(Date.now() - Date.parse(failures[0]?.at ?? '')).toBeLessThan(60_000);
});

test('keeps a title with any characters unchanged', async () => {
  const odd = change(1);
  const title = 'nul \u0000, half \ud83d, quote " and \\u0000';
  await queue(database, [{ ...odd, task: { ...odd.task, title } }]);
  const claim = await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 30_000, now: undefined });
  const [one] = await claimDue(database.pool, claim, { limit: 1, now: undefined });
  expect(one?.delivery.task.title).toBe(title);
});

test('the last delivered state of a task is that of the delivery that last reached the target', async () => {
  const log = creationLog(database.pool, 'hook');
  const stateAt = (version: number) =>
    log.lastDelivered(deliveryOf({}, { id: deliveryId('hook', change(1, version)), sequence: version }));
  for (const version of [1, 2, 3]) await queue(database, [change(1, version)]);
  await queue(database, [change(2)]);
  expect(await stateAt(3)).toBeUndefined();
  await database.pool.query(
    `update ledger.deliveries set verdict = 'already', state = 'ended', ended_at = now() where sequence = 1`,
  );
  expect(await stateAt(3)).toEqual({ id: deliveryId('hook', change(1)), task: change(1).task });
  expect(await stateAt(1)).toBeUndefined();
});

test('before any delivery reached the target, the last state is the one that the item was created with', async () => {
  const log = creationLog(database.pool, 'hook');
  const deliveryAt = (version: number) => {
    const { task } = change(1, version);
    return deliveryOf(task, { id: deliveryId('hook', change(1, version)), sequence: version });
  };
  for (const version of [1, 2, 3]) await queue(database, [change(1, version)]);
  await log.begin(deliveryAt(2), undefined);
  await log.noteTaken(deliveryAt(2), 'item-7');
  expect(await log.lastOf(deliveryAt(3))).toMatchObject({ isTaken: true, result: 'item-7' });
  const { id, task } = deliveryAt(2);
  expect(await log.lastDelivered(deliveryAt(3))).toEqual({ id, task });
  expect(await log.lastDelivered(deliveryAt(2))).toEqual({ id, task });
  expect(await log.begin(deliveryAt(3), await log.lastOf(deliveryAt(3)))).toBeDefined();
  expect(await log.lastOf(deliveryAt(3))).toMatchObject({ isTaken: false, result: null });
});

test('records of comments of single deliveries are deleted with old deliveries, and those of links stay', async () => {
  const log = creationLog(database.pool, 'hook');
  const comments = ['link-comment', 'change-comment'].map((kind) => ({ account: 'demo', task: { kind, id: 'one' } }));
  for (const comment of comments) await log.begin(comment, undefined);
  await pruneDeliveries(database.pool, 60_000);
  await database.pool.query(`update ledger.creations set at = at - interval '2 min'`);
  await pruneDeliveries(database.pool, 180_000);
  expect(await Promise.all(comments.map((each) => log.lastOf(each)))).not.toContain(undefined);
  await pruneDeliveries(database.pool, 60_000);
  const left = await Promise.all(comments.map((each) => log.lastOf(each)));
  expect(left.map((each) => each !== undefined)).toEqual([true, false]);
});
