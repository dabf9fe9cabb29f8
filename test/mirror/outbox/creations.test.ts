import { afterAll, beforeEach, expect, test } from 'vitest';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import type { DetailLog } from '../../../src/mirror/targets/items/creation-log.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { deliveryOf } from '../../support/item-vendor.ts';

let log: DetailLog;

const database = await freshLedger();
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('truncate ledger.creations');
  log = creationLog(database.pool, 'out');
});

const one = deliveryOf();
const another = deliveryOf({ kind: 'subtask' });
const lastOf = async () => {
  const last = await log.lastOf(one);
  if (last === undefined) throw new Error('there is none');
  return last;
};

test('there is no last creation before the first one; afterwards there is one for its own task and target', async () => {
  expect(await log.lastOf(one)).toBeUndefined();
  expect(await log.begin(one, undefined)).toBe((await lastOf()).at);
  expect(await log.lastOf(one)).toMatchObject({ isTaken: false });
  expect((await lastOf()).agoMs).toBeLessThan(30_000);
  expect(await log.lastOf(another)).toBeUndefined();
  expect(await creationLog(database.pool, 'other').lastOf(one)).toBeUndefined();
});

test('of two processes that begin at the same time, one may send', async () => {
  for (let round = 0; round < 20; round++) {
    const begun = await Promise.all([1, 2, 3, 4, 5].map(() => log.begin(one, undefined)));
    expect(begun.filter((at) => at !== undefined)).toHaveLength(1);
    await log.forget(one);
  }
});

test('a process that knows of the last creation may send again, once', async () => {
  await log.begin(one, undefined);
  const last = await lastOf();
  expect(await log.begin(one, undefined)).toBeUndefined();
  expect(await log.begin(one, last)).toBe((await lastOf()).at);
  expect(await log.begin(one, last)).toBeUndefined();
});

test('a creation that the service accepted is recorded so until another one begins', async () => {
  await log.begin(one, undefined);
  await log.noteTaken(one);
  const last = await lastOf();
  expect(last.isTaken).toBe(true);
  await log.begin(one, last);
  expect((await lastOf()).isTaken).toBe(false);
});

test('a paused process forgets its own creation, and not the later one of another process', async () => {
  const at = (await log.begin(one, undefined)) ?? '';
  await log.begin(one, await lastOf());
  await log.forget(one, at);
  const last = await lastOf();
  await log.forget(one, last.at);
  expect(await log.lastOf(one)).toBeUndefined();
});

test('a forgotten creation counts as never begun, and others remain', async () => {
  await log.begin(one, undefined);
  await log.begin(another, undefined);
  await log.forget(one);
  expect(await log.lastOf(one)).toBeUndefined();
  expect(await log.lastOf(another)).toBeDefined();
});

test('the newest created item is known with its task, and no comment, and none that is younger than asked for', async () => {
  for (const [what, result] of [
    [one, 'KEY-1'],
    [another, 'KEY-2'],
    [deliveryOf({ id: '9' }), undefined],
  ] as const) {
    await log.begin(what, undefined);
    await log.noteTaken(what, result);
  }
  await log.begin({ ...one, task: { kind: 'change-comment', id: '1' } }, undefined);
  await log.noteTaken({ ...one, task: { kind: 'change-comment', id: '1' } }, 'comment');
  const { account, task } = another;
  expect(await log.lastCreated(0)).toEqual({ account, task: { kind: 'subtask', id: task.id }, itemId: 'KEY-2' });
  expect(await log.lastCreated(60_000)).toBeUndefined();
});
