/** Tasks that are created at another account, each once. */
import { expect, test } from 'vitest';
import { markerOf } from '../../../src/mirror/targets/items/marker.ts';
import type { FaultKind } from '../../../src/service/testbed/behaviour.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { BranchBed, type BranchOptions, deliver } from './branch-account.ts';

/** Longer than a creation can be in flight. */
const LONG_MS = 200_000;

const bed = new BranchBed();
const { begin } = bed;
const linkOf = (outcome: object) => ('itemId' in outcome ? outcome.itemId : undefined);
const markers = async () => (await bed.branch.there()).map(({ description }) => description.split('\n').at(-1));

test('creates a missing task with the text, dates and state of this one, and links it', async () => {
  const target = await begin();
  const task = { isCompleted: true, startDate: '2026-03-01T09:30:00', endDate: 'soon' };
  const outcome = await target.deliver(deliveryOf(task), context());
  const [created] = await bed.branch.there();
  expect(outcome).toMatchObject({
    status: 'delivered',
    itemId: created?.id,
    detail: expect.stringContaining('created'),
  });
  expect(created).toMatchObject({ taskName: 'Call the printer', isCompleted: true, startDate: '2026-03-01T09:30:00' });
  expect(created).not.toHaveProperty('endDate');
  expect(created?.description).toBe(`${deliveryOf().task.description}\n\n${markerOf(deliveryOf())}`);
});

test('a crash between creating and linking creates no second task: the marker finds the first one', async () => {
  const first = await deliver(await begin(), false);
  await bed.branch.put([{ taskName: 'another', description: 'x' }]);
  const second = await deliver(bed.branch.open(), false);
  expect(second).toMatchObject({ status: 'already', itemId: linkOf(first) });
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test('the marker finds it though the ledger has lost everything', async () => {
  const first = await deliver(await begin(), false);
  await bed.branch.pool.query('truncate ledger.links, ledger.creations');
  expect(await deliver(bed.branch.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test.each<FaultKind>([
  'reset-before',
  'hang-before',
  '5xx-before',
  'reset-after',
  'hang-after',
  '5xx-after',
  'truncate',
])('a creation that ends in %s creates one task, through any process', async (kind) => {
  const faults = { rate: 1, limit: 1, kinds: [kind], operations: ['tasks.create'] };
  const lost = await deliver(await begin({ behaviour: { faults }, timeoutMs: 2_000 }), false);
  expect(lost).toMatchObject({ status: 'later', detail: expect.stringContaining('may have been created') });
  expect('retryAfterMs' in lost && lost.retryAfterMs).toBeGreaterThanOrEqual(60_000);
  const tooEarly = await deliver(bed.branch.open(), false);
  if (kind.endsWith('before')) expect(tooEarly).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  await bed.branch.age(LONG_MS);
  const [created, ...others] = [
    linkOf(await deliver(bed.branch.open(), false)),
    ...(await bed.branch.there()).map(({ id }) => id),
  ];
  expect(others).toEqual([created]);
});

test('waits for a late creation that a crashed process sent', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['late-commit' as const], lateMs: 400, operations: ['tasks.create'] };
  await deliver(await begin({ behaviour: { faults } }), false);
  expect(await deliver(bed.branch.open(), false)).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect(await bed.branch.there()).toEqual([]);
  await expect.poll(bed.branch.there).toHaveLength(1);
  expect(await deliver(bed.branch.open(), false)).toMatchObject({ status: 'already', itemId: expect.any(String) });
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test('sends a recorded creation that was never sent once none can be in flight any more', async () => {
  await begin();
  await bed.branch.pool.query(
    `insert into ledger.creations (scope, target, source_id) values ('demo', 'out', 'task:12')`,
  );
  const outcome = await deliver(bed.branch.open(), false);
  expect(outcome).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(140_000); // two settle times and the time to send it
  await bed.branch.age(LONG_MS);
  expect(await deliver(bed.branch.open(), false)).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
});

test('waits for a task that the list shows late, and does not create it again', async () => {
  const first = await deliver(await begin({ behaviour: { readLagMs: 400 } }), false);
  expect(first).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN', retryAfterMs: 60_000 });
  await expect.poll(async () => (await deliver(bed.branch.open(), false)).status).toBe('already');
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test('does not create an accepted task again that is never shown: a person has to link it', async () => {
  const target = await begin({ behaviour: { readLagMs: 1_000_000 } });
  await deliver(target, false);
  await bed.branch.age(LONG_MS);
  const outcome = await deliver(bed.branch.open(), false);
  expect(outcome).toMatchObject({ status: 'refused', reason: 'CREATED_NOT_SHOWN' });
  expect(outcome.detail).toContain(markerOf(deliveryOf()));
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test('creates no other task after the linked task was deleted there, until a person says so', async () => {
  const target = await begin();
  const itemId = linkOf(await deliver(target, false));
  await bed.branch.pool.query('delete from service.tasks where id = $1', [itemId]);
  expect(await deliver(target, true, String(itemId))).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
  await bed.branch.age(LONG_MS);
  expect(await deliver(bed.branch.open(), true)).toMatchObject({ status: 'refused', reason: 'CREATED_NOT_SHOWN' });
  expect(bed.branch.calls('tasks.create')).toBe(1);
});

test('leaves two tasks with one marker to a person, and names both', async () => {
  const target = await begin();
  const description = `<p>x</p>\n<p>${markerOf(deliveryOf())}</p>`;
  const ids = await bed.branch.put([{ description }, { description }]);
  const outcome = await deliver(target, false);
  expect(outcome).toMatchObject(anOutcome('refused', 'CREATED_TWICE', ids.join(', ')));
});

test('a hundred creations read the list once before and once after, and each gets its own task', async () => {
  const target = await begin();
  await bed.branch.put(Array.from({ length: 30 }, (_, i) => ({ taskName: `old ${i}`, description: 'x' })));
  const ids = Array.from({ length: 100 }, (_, i) => String(i));
  const outcomes = await Promise.all(ids.map((id) => deliver(target, false, undefined, id)));
  expect(new Set(outcomes.map(linkOf)).size).toBe(100);
  expect(new Set(await markers()).size).toBe(101);
  // A list of one page takes two calls, one of two pages takes three: the end has to be seen.
  expect([bed.branch.calls('tasks.create'), bed.branch.calls('tasks.getall')]).toEqual([100, 5]);
});

test.each<[string, BranchOptions]>([
  ['starts at page 1', { behaviour: { tasksFirstPage: 1 } }],
  ['shows the newest first', { behaviour: { order: 'newest' } }],
  ['ignores page numbers', { behaviour: { ignorePaging: true, ignoreRowsPerPage: true } }],
  ['stands deep in the answer', { behaviour: { listShape: { path: 'content.data.items' } } }],
  ['has ids of another name', { behaviour: { idField: 'kind_id', idType: 'string' } }],
  ['has 0 and 1 for flags', { behaviour: { booleans01: true } }],
  ['starts at page 1, says the settings', { behaviour: { tasksFirstPage: 1 }, dialect: { firstTaskPage: 1 } }],
])('creates a task once where the list %s', async (_, options) => {
  const target = await begin({ ...options, behaviour: { defaultRowsPerPage: 100, ...options.behaviour } });
  await bed.branch.put(Array.from({ length: 250 }, (_, i) => ({ taskName: `old ${i}` })));
  const first = await deliver(target, false);
  expect(await deliver(bed.branch.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(await bed.branch.there()).toHaveLength(251);
});

test.each(['nothing', 'envelope', 'id', 'record'] as const)(
  'a create that answers %s creates one task',
  async (createAnswers) => {
    const target = await begin({ behaviour: { createAnswers } });
    const first = await deliver(target, false);
    const [created] = await bed.branch.there();
    expect(first).toMatchObject({ status: 'delivered', itemId: created?.id });
    expect(bed.branch.calls('tasks.getall')).toBe(createAnswers === 'record' ? 2 : 4); // the record says which one it is
  },
);

test('of two processes that create for one task at the same time, one creates it', async () => {
  const targets = [await begin(), bed.branch.open()];
  const outcomes = await Promise.all(targets.map((target) => deliver(target, false)));
  expect(bed.branch.calls('tasks.create')).toBe(1);
  expect(outcomes.map(({ status }) => status)).toContain('delivered');
});

test('does not copy a task again that was created for another one', async () => {
  const target = await begin();
  const task = { description: `<p>x</p>\n\nlockstep-0123456789ab<br>` };
  expect(await target.deliver(deliveryOf(task), context())).toMatchObject({ status: 'skipped', reason: 'IS_A_COPY' });
  expect(bed.branch.calls('tasks.create')).toBe(0);
});

test('a creation reports a refused key too, and delays no later creation', async () => {
  await begin();
  bed.branch.useKey('wrong');
  const target = bed.branch.open();
  expect(await deliver(target, false)).toMatchObject({ status: 'later', reason: 'ACCOUNT_SUSPENDED', isLimited: true });
  bed.branch.useKey('right');
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('does not take a rate-limited creation for one that may have happened', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 2 } } });
  expect(await deliver(target, false)).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  const { rows } = await bed.branch.pool.query('select from ledger.creations');
  expect(rows).toHaveLength(0);
});

test('reads a failed page again, and the creation continues', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['5xx-before' as const], operations: ['tasks.getall'], onlyWrites: false };
  expect(await deliver(await begin({ behaviour: { faults } }), false)).toMatchObject({ status: 'delivered' });
});

test('creates nothing when the list cannot be read', async () => {
  const faults = { rate: 1, kinds: ['5xx-before' as const], operations: ['tasks.getall'], onlyWrites: false };
  expect(await deliver(await begin({ behaviour: { faults } }), false)).toMatchObject({
    status: 'later',
    reason: 'SERVER_ERROR',
  });
  expect(await bed.branch.there()).toEqual([]);
});

test('a shutdown aborts a delivery that waits for the list', async () => {
  const target = await begin({ behaviour: { latencyMs: 3_000 } });
  const stopping = new AbortController();
  const waiting = target.deliver(deliveryOf(), { signal: stopping.signal });
  await expect.poll(() => bed.branch.calls('tasks.getall')).toBe(1);
  stopping.abort();
  expect(await waiting).toMatchObject({ status: 'later', reason: 'ABORTED' });
  await target.close();
});
