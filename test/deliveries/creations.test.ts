import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { creationLog } from '../../src/deliveries/creations.ts';
import { keepItemLinks } from '../../src/links/item-links.ts';
import type { CreationLog } from '../../src/targets/service-creation.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../support/database.ts';
import { deliveryOf } from '../support/item-bed.ts';

let database: FreshDatabase;
let log: CreationLog;

beforeAll(async () => {
  database = await freshLedger();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.pool.query('truncate ledger.links');
  log = creationLog(database.pool, 'out');
});

const one = deliveryOf();
const another = deliveryOf({ kind: 'subtask' });
const lastOf = async () => {
  const last = await log.lastOf(one);
  if (last === undefined) throw new Error('there is none');
  return last;
};

test('what was never begun has no last creation, and what was begun has one, of its own task and target', async () => {
  expect(await log.lastOf(one)).toBeUndefined();
  expect(await log.begin(one, 'm-1', undefined)).toBe((await lastOf()).at);
  expect(await log.lastOf(one)).toMatchObject({ isTaken: false });
  expect((await lastOf()).agoMs).toBeLessThan(30_000);
  expect(await log.lastOf(another)).toBeUndefined();
  expect(await creationLog(database.pool, 'other').lastOf(one)).toBeUndefined();
});

test('of two who begin at the same time, one may send', async () => {
  for (let round = 0; round < 20; round++) {
    const begun = await Promise.all([1, 2, 3, 4, 5].map(() => log.begin(one, 'm-1', undefined)));
    expect(begun.filter((at) => at !== undefined)).toHaveLength(1);
    await log.forget(one);
  }
});

test('who knows of the last one may send again, once', async () => {
  await log.begin(one, 'm-1', undefined);
  const last = await lastOf();
  expect(await log.begin(one, 'm-1', undefined)).toBeUndefined();
  expect(await log.begin(one, 'm-1', last)).toBe((await lastOf()).at);
  expect(await log.begin(one, 'm-1', last)).toBeUndefined();
});

test('one that the service took says so, until another one is begun', async () => {
  await log.begin(one, 'm-1', undefined);
  await log.noteTaken(one);
  const last = await lastOf();
  expect(last.isTaken).toBe(true);
  await log.begin(one, 'm-1', last);
  expect((await lastOf()).isTaken).toBe(false);
});

test('a process that was paused withdraws its own creation, and not the later one of another process', async () => {
  const at = (await log.begin(one, 'm-1', undefined)) ?? '';
  await log.begin(one, 'm-1', await lastOf());
  await log.withdraw(one, at);
  const last = await lastOf();
  await log.withdraw(one, last.at);
  expect(await log.lastOf(one)).toBeUndefined();
});

test('a forgotten one is as never begun, and others stay', async () => {
  await log.begin(one, 'm-1', undefined);
  await log.begin(another, 'm-2', undefined);
  await log.forget(one);
  expect(await log.lastOf(one)).toBeUndefined();
  expect(await log.lastOf(another)).toBeDefined();
});

test('a link with an item and a creation of it do not stand in each other’s way', async () => {
  await log.begin(one, 'm-1', undefined);
  await keepItemLinks(database.pool, 'out', [{ scope: one.account, task: one.task, itemId: '7', runId: undefined }]);
  const { rows } = await database.pool.query('select kind from ledger.links order by kind');
  expect(rows.map(({ kind }) => kind)).toEqual(['creating:out', 'item:out']);
});
