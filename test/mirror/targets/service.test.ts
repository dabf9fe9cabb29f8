import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { Target } from '../../../src/contract/target.ts';
import { markerOf } from '../../../src/mirror/targets/items/marker.ts';
import { openService } from '../../../src/mirror/targets/service/service.ts';
import type { FaultKind } from '../../../src/service/testbed/behaviour.ts';
import { type Harness, openHarness } from '../../support/harness/harness.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { type Branch, type BranchOptions, openBranch } from './branch-account.ts';

/** Longer than a creation can be in flight. */
const LONG_MS = 200_000;

let harness: Harness;
let branch: Branch;

beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness.close());
afterEach(() => branch.close());

async function begin(options?: BranchOptions): Promise<Target> {
  branch = await openBranch(harness, options);
  return branch.open();
}

const deliver = (target: Target, isCompleted: boolean, itemId?: string, id = '12') =>
  target.deliver(deliveryOf({ isCompleted, id }, { itemId }), context());
const linkOf = (outcome: object) => ('itemId' in outcome ? outcome.itemId : undefined);
const markers = async () => (await branch.there()).map(({ description }) => description.split('\n').at(-1));

test.each([true, false])('marks the linked task isCompleted=%s, once, after a read', async (isCompleted) => {
  const target = await begin();
  const [, itemId = ''] = await branch.put([{ isCompleted: !isCompleted }, { isCompleted: !isCompleted }]);
  const [from, to] = isCompleted ? ['open', 'completed'] : ['completed', 'open'];
  expect(await deliver(target, isCompleted, itemId)).toEqual({
    status: 'delivered',
    detail: `${itemId}: ${from} → ${to}`,
  });
  expect(await deliver(target, isCompleted, itemId)).toMatchObject({ status: 'already' });
  expect((await branch.there()).map((task) => task.isCompleted)).toEqual([!isCompleted, isCompleted]);
  expect([branch.calls('tasks.complete'), branch.calls('tasks.getall')]).toEqual([1, 0]);
});

test('marks nothing for a delivery that another process may send by then', async () => {
  const target = await begin();
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  const outcome = await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), {
    ...context(),
    mayDispatch: () => branch.calls('tasks.get') === 0,
  });
  expect(outcome).toMatchObject({ status: 'later' });
  expect([await branch.there(), branch.calls('tasks.get')]).toMatchObject([[{ isCompleted: false }], 1]);
});

test('settings decide from its column whether a card is completed', async () => {
  await begin();
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  const target = branch.open({ columns: { Shipped: 'completed' } });
  const card = deliveryOf({ kind: 'card', status: 'shipped', isCompleted: false }, { itemId });
  expect(await target.deliver(card, context())).toMatchObject({ status: 'delivered' });
  expect(await branch.there()).toMatchObject([{ isCompleted: true }]);
});

test('marks a task without isCompleted each time', async () => {
  const target = await begin();
  const [itemId = ''] = await branch.put([{ taskName: 'silent' }]);
  expect(await deliver(target, false, itemId)).toMatchObject({ status: 'delivered' });
});

test('changes nothing for a deleted task, and tells a person what to do', async () => {
  const target = await begin();
  const gone = deliveryOf({ isGone: true }, { itemId: '7', event: 'gone' });
  expect(await target.deliver(gone, context())).toMatchObject({ status: 'skipped', reason: 'TASK_GONE' });
  expect(branch.calls('tasks.get')).toBe(0);
});

test('skips a task without a link and says how to link it, unless the settings allow creation', async () => {
  await begin();
  const outcome = await deliver(branch.open({ create: false }), false);
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'NOT_LINKED' });
  expect(outcome.detail).toMatch(/branch#12.*create: true/);
  expect(await branch.there()).toEqual([]);
});

test.each(['status', 'envelope200', 'html', 'empty'] as const)(
  'a missing linked task makes a dead letter, where errors look like %s',
  async (errors) => {
    const target = await begin({ behaviour: { errors } });
    expect(await deliver(target, true, '999')).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
    expect(await target.readItem?.('998', context())).toEqual({ status: 'missing' });
  },
);

test.each(['', '1/../2', '1?x=1', 'x y', '12#'])('refuses a task named %j before anything is sent', async (id) => {
  const target = await begin();
  expect(await deliver(target, true, id)).toMatchObject({ status: 'refused', reason: 'ITEM_ID_INVALID' });
  expect(branch.calls('tasks.get')).toBe(0);
});

test('readItem returns the task’s state', async () => {
  const target = await begin();
  const [itemId = ''] = await branch.put([{ isCompleted: true }]);
  const item = { itemId, isCompleted: true, status: 'completed' };
  expect(await target.readItem?.(itemId, context())).toEqual({ status: 'found', item });
});

test('creates a missing task with the text, dates and state of this one, and links it', async () => {
  const target = await begin();
  const task = { isCompleted: true, startDate: '2026-03-01T09:30:00', endDate: 'soon' };
  const outcome = await target.deliver(deliveryOf(task), context());
  const [created] = await branch.there();
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
  await branch.put([{ taskName: 'another', description: 'x' }]);
  const second = await deliver(branch.open(), false);
  expect(second).toMatchObject({ status: 'already', itemId: linkOf(first) });
  expect(branch.calls('tasks.create')).toBe(1);
});

test('the marker finds it though the ledger has lost everything', async () => {
  const first = await deliver(await begin(), false);
  await branch.pool.query('truncate ledger.links, ledger.creations');
  expect(await deliver(branch.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(branch.calls('tasks.create')).toBe(1);
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
  const tooEarly = await deliver(branch.open(), false);
  if (kind.endsWith('before')) expect(tooEarly).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  await branch.age(LONG_MS);
  const [created, ...others] = [
    linkOf(await deliver(branch.open(), false)),
    ...(await branch.there()).map(({ id }) => id),
  ];
  expect(others).toEqual([created]);
});

test('waits for a late creation that a crashed process sent', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['late-commit' as const], lateMs: 400, operations: ['tasks.create'] };
  await deliver(await begin({ behaviour: { faults } }), false);
  expect(await deliver(branch.open(), false)).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect(await branch.there()).toEqual([]);
  await expect.poll(branch.there).toHaveLength(1);
  expect(await deliver(branch.open(), false)).toMatchObject({ status: 'already', itemId: expect.any(String) });
  expect(branch.calls('tasks.create')).toBe(1);
});

test('sends a recorded creation that was never sent once none can be in flight any more', async () => {
  await begin();
  await branch.pool.query(`insert into ledger.creations (scope, target, source_id) values ('demo', 'out', 'task:12')`);
  const outcome = await deliver(branch.open(), false);
  expect(outcome).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(140_000); // two settle times and the time to send it
  await branch.age(LONG_MS);
  expect(await deliver(branch.open(), false)).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
});

test('waits for a task that the list shows late, and does not create it again', async () => {
  const first = await deliver(await begin({ behaviour: { readLagMs: 400 } }), false);
  expect(first).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN', retryAfterMs: 60_000 });
  await expect.poll(async () => (await deliver(branch.open(), false)).status).toBe('already');
  expect(branch.calls('tasks.create')).toBe(1);
});

test('does not create an accepted task again that is never shown: a person has to link it', async () => {
  const target = await begin({ behaviour: { readLagMs: 1_000_000 } });
  await deliver(target, false);
  await branch.age(LONG_MS);
  const outcome = await deliver(branch.open(), false);
  expect(outcome).toMatchObject({ status: 'refused', reason: 'CREATED_NOT_SHOWN' });
  expect(outcome.detail).toContain(markerOf(deliveryOf()));
  expect(branch.calls('tasks.create')).toBe(1);
});

test('creates no other task after the linked task was deleted there, until a person says so', async () => {
  const target = await begin();
  const itemId = linkOf(await deliver(target, false));
  await branch.pool.query('delete from service.tasks where id = $1', [itemId]);
  expect(await deliver(target, true, String(itemId))).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
  await branch.age(LONG_MS);
  expect(await deliver(branch.open(), true)).toMatchObject({ status: 'refused', reason: 'CREATED_NOT_SHOWN' });
  expect(branch.calls('tasks.create')).toBe(1);
});

test('leaves two tasks with one marker to a person, and names both', async () => {
  const target = await begin();
  const description = `<p>x</p>\n<p>${markerOf(deliveryOf())}</p>`;
  const ids = await branch.put([{ description }, { description }]);
  const outcome = await deliver(target, false);
  expect(outcome).toMatchObject(anOutcome('refused', 'CREATED_TWICE', ids.join(', ')));
});

test('a hundred creations read the list once before and once after, and each gets its own task', async () => {
  const target = await begin();
  await branch.put(Array.from({ length: 30 }, (_, i) => ({ taskName: `old ${i}`, description: 'x' })));
  const ids = Array.from({ length: 100 }, (_, i) => String(i));
  const outcomes = await Promise.all(ids.map((id) => deliver(target, false, undefined, id)));
  expect(new Set(outcomes.map(linkOf)).size).toBe(100);
  expect(new Set(await markers()).size).toBe(101);
  // A list of one page takes two calls, one of two pages takes three: the end has to be seen.
  expect([branch.calls('tasks.create'), branch.calls('tasks.getall')]).toEqual([100, 5]);
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
  await branch.put(Array.from({ length: 250 }, (_, i) => ({ taskName: `old ${i}` })));
  const first = await deliver(target, false);
  expect(await deliver(branch.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(await branch.there()).toHaveLength(251);
});

test.each(['nothing', 'envelope', 'id', 'record'] as const)(
  'a create that answers %s creates one task',
  async (createAnswers) => {
    const target = await begin({ behaviour: { createAnswers } });
    const first = await deliver(target, false);
    const [created] = await branch.there();
    expect(first).toMatchObject({ status: 'delivered', itemId: created?.id });
    expect(branch.calls('tasks.getall')).toBe(createAnswers === 'record' ? 2 : 4); // the record says which one it is
  },
);

test('of two processes that create for one task at the same time, one creates it', async () => {
  const targets = [await begin(), branch.open()];
  const outcomes = await Promise.all(targets.map((target) => deliver(target, false)));
  expect(branch.calls('tasks.create')).toBe(1);
  expect(outcomes.map(({ status }) => status)).toContain('delivered');
});

test('does not copy a task again that was created for another one', async () => {
  const target = await begin();
  const task = { description: `<p>x</p>\n\nlockstep-0123456789ab<br>` };
  expect(await target.deliver(deliveryOf(task), context())).toMatchObject({ status: 'skipped', reason: 'IS_A_COPY' });
  expect(branch.calls('tasks.create')).toBe(0);
});

test('a task that the service refuses makes a dead letter with its message, and nothing waits', async () => {
  const target = await begin();
  const task = { startDate: '2026-02-30T10:00:00' };
  const refused = await target.deliver(deliveryOf(task), context());
  expect(refused).toMatchObject(anOutcome('refused', 'REJECTED', 'startDate'));
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('a refused key disables the target, and a corrected key is used when the target is enabled', async () => {
  await begin();
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  branch.useKey('wrong');
  const target = branch.open();
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  expect(outcome.detail).toContain('accounts.branch.apiKey');
  expect(JSON.stringify(outcome)).not.toContain('canary');
  branch.useKey('right');
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'delivered' });
});

test('a refused call is retried while the service does not show whether it refuses the key', async () => {
  await begin({ keyCheck: { status: 'unclear', why: 'it is away' } });
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  branch.useKey('wrong');
  const detail = 'whether it refuses the key is unclear: it is away';
  expect(await deliver(branch.open(), true, itemId)).toMatchObject(anOutcome('later', 'KEY_UNCLEAR', detail));
});

test('a creation reports a refused key too, and delays no later creation', async () => {
  await begin();
  branch.useKey('wrong');
  const target = branch.open();
  expect(await deliver(target, false)).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  branch.useKey('right');
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('an account whose key cannot be read is retried later', async () => {
  await begin();
  expect(await deliver(branch.open({ account: 'missing' }), true, '7')).toMatchObject({
    status: 'later',
    reason: 'SECRET_MISSING',
  });
});

test('a limit of the service pauses the target for the given time, and spends no attempt', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 1 } } });
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(1_000);
});

test('does not take a rate-limited creation for one that may have happened', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 2 } } });
  expect(await deliver(target, false)).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  const { rows } = await branch.pool.query('select from ledger.creations');
  expect(rows).toHaveLength(0);
});

test('the next attempt finds a mark whose answer was lost', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['reset-after' as const], operations: ['tasks.complete'] };
  const target = await begin({ behaviour: { faults } });
  const [itemId = ''] = await branch.put([{ isCompleted: false }]);
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'already' });
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
  expect(await branch.there()).toEqual([]);
});

test('a shutdown aborts a delivery that waits for the list', async () => {
  const target = await begin({ behaviour: { latencyMs: 3_000 } });
  const stopping = new AbortController();
  const waiting = target.deliver(deliveryOf(), { signal: stopping.signal });
  await expect.poll(() => branch.calls('tasks.getall')).toBe(1);
  stopping.abort();
  expect(await waiting).toMatchObject({ status: 'later', reason: 'ABORTED' });
  await target.close();
});

test('a defect is not an outcome', async () => {
  await begin();
  const settings = {
    name: 'out',
    type: 'service',
    account: 'branch',
    create: true,
    columns: {},
    concurrency: 1,
  } as const;
  const accounts = {
    use: () => Promise.reject(new TypeError('a defect')),
    reopen: () => Promise.reject(new LockstepError('X', '')),
  };
  const creations = {
    lastOf: async () => undefined,
    begin: async () => 'now',
    noteTaken: async () => {},
    forget: async () => {},
  };
  const target = openService(settings, { accounts, creations, readTask: () => ({ status: 'no-id' }) });
  await expect(deliver(target, true, '7')).rejects.toThrow('a defect');
});
