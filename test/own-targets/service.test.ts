import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LockstepError } from '../../src/errors.ts';
import { itemIdIn, itemNamingOf } from '../../src/links/item-ids.ts';
import type { FaultKind } from '../../src/service/behaviour.ts';
import { markerOf } from '../../src/targets/marker.ts';
import { openService, serviceItemsIn } from '../../src/targets/service.ts';
import type { Target } from '../../src/targets/target.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { context, deliveryOf } from '../support/item-bed.ts';
import { openServiceTargetBed, type ServiceBedOptions, type ServiceTargetBed } from '../support/service-target-bed.ts';

/** Longer than a creation may be under way. */
const LONG_MS = 200_000;

let database: FreshDatabase;
let bed: ServiceTargetBed;

beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.close());
afterEach(() => bed.close());

type Options = Omit<ServiceBedOptions, 'database'>;

async function begin(options: Options = {}): Promise<Target> {
  bed = await openServiceTargetBed({ ...options, database });
  return bed.open();
}

const deliver = (target: Target, isCompleted: boolean, itemId?: string, id = '12') =>
  target.deliver(deliveryOf({ isCompleted, id }, { itemId }), context());
const linkOf = (outcome: object) => ('itemId' in outcome ? outcome.itemId : undefined);
const markers = async () => (await bed.there()).map(({ description }) => description.split('\n').at(-1));

test.each([true, false])('the linked task is marked isCompleted=%s, once, and read before', async (isCompleted) => {
  const target = await begin();
  const [, itemId = ''] = await bed.put([{ isCompleted: !isCompleted }, { isCompleted: !isCompleted }]);
  const [from, to] = isCompleted ? ['open', 'completed'] : ['completed', 'open'];
  expect(await deliver(target, isCompleted, itemId)).toEqual({
    status: 'delivered',
    detail: `${itemId}: ${from} → ${to}`,
  });
  expect(await deliver(target, isCompleted, itemId)).toMatchObject({ status: 'already' });
  expect((await bed.there()).map((task) => task.isCompleted)).toEqual([!isCompleted, isCompleted]);
  expect([bed.calls('tasks.complete'), bed.calls('tasks.getall')]).toEqual([1, 0]);
});

test('a card is what the settings say of its column', async () => {
  await begin();
  const [itemId = ''] = await bed.put([{ isCompleted: false }]);
  const target = bed.open({ columns: { Shipped: 'completed' } });
  const card = deliveryOf({ kind: 'card', status: 'shipped', isCompleted: false }, { itemId });
  expect(await target.deliver(card, context())).toMatchObject({ status: 'delivered' });
  expect(await bed.there()).toMatchObject([{ isCompleted: true }]);
});

test('a task that does not say whether it is completed is marked each time', async () => {
  const target = await begin();
  const [itemId = ''] = await bed.put([{ taskName: 'silent' }]);
  expect(await deliver(target, false, itemId)).toMatchObject({ status: 'delivered' });
});

test('of a task that is gone nothing is touched, and a person is told what to do', async () => {
  const target = await begin();
  const gone = deliveryOf({ isGone: true }, { itemId: '7', event: 'gone' });
  expect(await target.deliver(gone, context())).toMatchObject({ status: 'skipped', reason: 'TASK_GONE' });
  expect(bed.calls('tasks.get')).toBe(0);
});

test('without a link a task is skipped with how to link it, unless the settings say to create', async () => {
  await begin();
  const outcome = await deliver(bed.open({ create: false }), false);
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'NOT_LINKED' });
  expect(outcome.detail).toMatch(/branch#12.*create: true/);
  expect(await bed.there()).toEqual([]);
});

test.each(['status', 'envelope200', 'html', 'empty'] as const)(
  'a linked task that is not there makes a dead letter, where errors look like %s',
  async (errors) => {
    const target = await begin({ behaviour: { errors } });
    expect(await deliver(target, true, '999')).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
    expect(await target.readItem?.('998', context())).toEqual({ status: 'missing' });
  },
);

test.each(['', '1/../2', '1?x=1', 'x y', '12#'])(
  'a task that is named %j is refused before anything is sent',
  async (id) => {
    const target = await begin();
    expect(await deliver(target, true, id)).toMatchObject({ status: 'refused', reason: 'ITEM_ID_INVALID' });
    expect(bed.calls('tasks.get')).toBe(0);
  },
);

test('readItem tells what the task is', async () => {
  const target = await begin();
  const [itemId = ''] = await bed.put([{ isCompleted: true }]);
  const item = { itemId, isCompleted: true, status: 'completed' };
  expect(await target.readItem?.(itemId, context())).toEqual({ status: 'found', item });
});

test('a missing task is created with the words, the dates and the state of this one, and linked', async () => {
  const target = await begin();
  const task = { isCompleted: true, startDate: '2026-03-01T09:30:00', endDate: 'soon' };
  const outcome = await target.deliver(deliveryOf(task), context());
  const [created] = await bed.there();
  expect(outcome).toMatchObject({
    status: 'delivered',
    itemId: created?.id,
    detail: expect.stringContaining('created'),
  });
  expect(created).toMatchObject({ taskName: 'Call the printer', isCompleted: true, startDate: '2026-03-01T09:30:00' });
  expect(created).not.toHaveProperty('endDate');
  expect(created?.description).toBe(`${deliveryOf().task.description}\n\n${markerOf(deliveryOf())}`);
});

test('a crash between creating and linking creates no second task: the first one is found by its marker', async () => {
  const first = await deliver(await begin(), false);
  await bed.put([{ taskName: 'another', description: 'x' }]);
  const second = await deliver(bed.open(), false);
  expect(second).toMatchObject({ status: 'already', itemId: linkOf(first) });
  expect(bed.calls('tasks.create')).toBe(1);
});

test('it is found by its marker though the ledger has lost everything', async () => {
  const first = await deliver(await begin(), false);
  await bed.pool.query('truncate ledger.links, ledger.creations');
  expect(await deliver(bed.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(bed.calls('tasks.create')).toBe(1);
});

test.each<FaultKind>([
  'reset-before',
  'hang-before',
  '5xx-before',
  'reset-after',
  'hang-after',
  '5xx-after',
  'truncate',
])('a creation that ends in %s comes to one task, through whatever process', async (kind) => {
  const faults = { rate: 1, limit: 1, kinds: [kind], operations: ['tasks.create'] };
  const lost = await deliver(await begin({ behaviour: { faults }, timeoutMs: 300 }), false);
  expect(lost).toMatchObject({ status: 'later', detail: expect.stringContaining('may have been created') });
  expect('retryAfterMs' in lost && lost.retryAfterMs).toBeGreaterThanOrEqual(60_000);
  const tooEarly = await deliver(bed.open(), false);
  if (kind.endsWith('before')) expect(tooEarly).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  await bed.age(LONG_MS);
  const [created, ...others] = [linkOf(await deliver(bed.open(), false)), ...(await bed.there()).map(({ id }) => id)];
  expect(others).toEqual([created]);
});

test('a creation that the crashed process sent, and that comes late, is waited for', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['late-commit' as const], lateMs: 400, operations: ['tasks.create'] };
  await deliver(await begin({ behaviour: { faults } }), false);
  expect(await deliver(bed.open(), false)).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect(await bed.there()).toEqual([]);
  await expect.poll(bed.there).toHaveLength(1);
  expect(await deliver(bed.open(), false)).toMatchObject({ status: 'already', itemId: expect.any(String) });
  expect(bed.calls('tasks.create')).toBe(1);
});

test('a creation that was put down and never sent is sent when none can be under way any more', async () => {
  await begin();
  await bed.pool.query(`insert into ledger.creations (scope, target, source_id) values ('demo', 'out', 'task:12')`);
  const outcome = await deliver(bed.open(), false);
  expect(outcome).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(140_000); // two settle times and the time to send it
  await bed.age(LONG_MS);
  expect(await deliver(bed.open(), false)).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
});

test('a task that the list shows late is waited for, and not created again', async () => {
  const first = await deliver(await begin({ behaviour: { readLagMs: 400 } }), false);
  expect(first).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN', retryAfterMs: 60_000 });
  await expect.poll(async () => (await deliver(bed.open(), false)).status).toBe('already');
  expect(bed.calls('tasks.create')).toBe(1);
});

test('a task that was taken and is never shown is not created again: a person is to link it', async () => {
  const target = await begin({ behaviour: { readLagMs: 1_000_000 } });
  await deliver(target, false);
  await bed.age(LONG_MS);
  const outcome = await deliver(bed.open(), false);
  expect(outcome).toMatchObject({ status: 'refused', reason: 'CREATED_NOT_SHOWN' });
  expect(outcome.detail).toContain(markerOf(deliveryOf()));
  expect(bed.calls('tasks.create')).toBe(1);
});

test('once the linked task was deleted there, another one is created for a task whose link was taken away', async () => {
  const target = await begin();
  const itemId = linkOf(await deliver(target, false));
  await bed.pool.query('delete from service.tasks where id = $1', [itemId]);
  expect(await deliver(target, true, String(itemId))).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
  expect(await deliver(bed.open(), true)).toMatchObject({
    status: 'delivered',
    detail: expect.stringContaining('created'),
  });
});

test('two tasks with one marker are for a person, who is told both', async () => {
  const target = await begin();
  const description = `<p>x</p>\n<p>${markerOf(deliveryOf())}</p>`;
  const ids = await bed.put([{ description }, { description }]);
  const outcome = await deliver(target, false);
  expect(outcome).toMatchObject({
    status: 'refused',
    reason: 'CREATED_TWICE',
    detail: expect.stringContaining(ids.join(', ')),
  });
});

test('a hundred creations read the list once before and once after, and each gets its own task', async () => {
  const target = await begin();
  await bed.put(Array.from({ length: 30 }, (_, i) => ({ taskName: `old ${i}`, description: 'x' })));
  const ids = Array.from({ length: 100 }, (_, i) => String(i));
  const outcomes = await Promise.all(ids.map((id) => deliver(target, false, undefined, id)));
  expect(new Set(outcomes.map(linkOf)).size).toBe(100);
  expect(new Set(await markers()).size).toBe(101);
  // A list of one page takes two calls, one of two pages takes two as well: the end has to be seen.
  expect([bed.calls('tasks.create'), bed.calls('tasks.getall')]).toEqual([100, 4]);
});

test.each<[string, Options]>([
  ['starts at page 1', { behaviour: { tasksFirstPage: 1 } }],
  ['shows the newest first', { behaviour: { order: 'newest' } }],
  ['ignores page numbers', { behaviour: { ignorePaging: true, ignoreRowsPerPage: true } }],
  ['stands deep in the answer', { behaviour: { listShape: { path: 'content.data.items' } } }],
  ['has ids of another name', { behaviour: { idField: 'kind_id', idType: 'string' } }],
  ['has 0 and 1 for flags', { behaviour: { booleans01: true } }],
  ['starts at page 1, says the settings', { behaviour: { tasksFirstPage: 1 }, dialect: { firstTaskPage: 1 } }],
])('a task is created once where the list %s', async (_, options) => {
  const target = await begin({ ...options, behaviour: { defaultRowsPerPage: 100, ...options.behaviour } });
  await bed.put(Array.from({ length: 250 }, (_, i) => ({ taskName: `old ${i}` })));
  const first = await deliver(target, false);
  expect(await deliver(bed.open(), true)).toMatchObject({ status: 'delivered', itemId: linkOf(first) });
  expect(await bed.there()).toHaveLength(251);
});

test.each(['nothing', 'envelope', 'id', 'record'] as const)(
  'a create that answers %s creates one task',
  async (createAnswers) => {
    const target = await begin({ behaviour: { createAnswers } });
    const first = await deliver(target, false);
    const [created] = await bed.there();
    expect(first).toMatchObject({ status: 'delivered', itemId: created?.id });
    expect(bed.calls('tasks.getall')).toBe(createAnswers === 'record' ? 2 : 4); // the record says which one it is
  },
);

test('of two processes that create for one task at the same time, one does', async () => {
  const targets = [await begin(), bed.open()];
  const outcomes = await Promise.all(targets.map((target) => deliver(target, false)));
  expect(bed.calls('tasks.create')).toBe(1);
  expect(outcomes.map(({ status }) => status)).toContain('delivered');
});

test('a task that was created for another one is not copied again', async () => {
  const target = await begin();
  const task = { description: `<p>x</p>\n\nlockstep-0123456789ab<br>` };
  expect(await target.deliver(deliveryOf(task), context())).toMatchObject({ status: 'skipped', reason: 'IS_A_COPY' });
  expect(bed.calls('tasks.create')).toBe(0);
});

test('a task that the service refuses makes a dead letter with its words, and nothing is waited for', async () => {
  const target = await begin();
  const task = { startDate: '2026-02-30T10:00:00' };
  const refused = await target.deliver(deliveryOf(task), context());
  expect(refused).toMatchObject({
    status: 'refused',
    reason: 'REJECTED',
    detail: expect.stringContaining('startDate'),
  });
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('a refused key disables the target, and the mended one is used when it is enabled', async () => {
  await begin();
  const [itemId = ''] = await bed.put([{ isCompleted: false }]);
  bed.useKey('wrong');
  const target = bed.open();
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  expect(outcome.detail).toContain('accounts.branch.apiKey');
  expect(JSON.stringify(outcome)).not.toContain('canary');
  bed.useKey('right');
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'delivered' });
});

test('a refused key is told of by a creation as well, and holds up none that follows', async () => {
  await begin();
  bed.useKey('wrong');
  const target = bed.open();
  expect(await deliver(target, false)).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  bed.useKey('right');
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('an account whose key cannot be read is for later', async () => {
  await begin();
  expect(await deliver(bed.open({ account: 'nobody' }), true, '7')).toMatchObject({
    status: 'later',
    reason: 'SECRET_MISSING',
  });
});

test('a limit of the service holds the target for as long as it says, and spends no attempt', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 1 } } });
  const [itemId = ''] = await bed.put([{ isCompleted: false }]);
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(1_000);
});

test('a creation that was limited is not taken for one that may have happened', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 2 } } });
  expect(await deliver(target, false)).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  const { rows } = await bed.pool.query('select from ledger.creations');
  expect(rows).toHaveLength(0);
});

test('a mark whose answer was lost is found as it should be by the next attempt', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['reset-after' as const], operations: ['tasks.complete'] };
  const target = await begin({ behaviour: { faults } });
  const [itemId = ''] = await bed.put([{ isCompleted: false }]);
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'already' });
});

test('one page that could not be read is read again, and the creation goes on', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['5xx-before' as const], operations: ['tasks.getall'], onlyWrites: false };
  expect(await deliver(await begin({ behaviour: { faults } }), false)).toMatchObject({ status: 'delivered' });
});

test('a list that cannot be read creates nothing', async () => {
  const faults = { rate: 1, kinds: ['5xx-before' as const], operations: ['tasks.getall'], onlyWrites: false };
  expect(await deliver(await begin({ behaviour: { faults } }), false)).toMatchObject({
    status: 'later',
    reason: 'SERVER_ERROR',
  });
  expect(await bed.there()).toEqual([]);
});

test('a shutdown breaks off a delivery that waits for the list', async () => {
  const target = await begin({ behaviour: { latencyMs: 3_000 } });
  const stopping = new AbortController();
  const waiting = target.deliver(deliveryOf(), { signal: stopping.signal });
  await expect.poll(() => bed.calls('tasks.getall')).toBe(1);
  stopping.abort();
  expect(await waiting).toMatchObject({ status: 'later', reason: 'ABORTED' });
  await target.close();
});

test('a defect is no outcome', async () => {
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
    open: () => Promise.reject(new TypeError('a defect')),
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

test.each([
  ['see branch#12 and branch#13, branch#12.', ['12', '13']],
  ['Task branch#a1b2-c3', ['a1b2-c3']],
  ['my-branch#12 other#12 #12 x/branch#12 branch#12/3', []],
])('the text %j names tasks', (text, expected) => {
  expect(serviceItemsIn(text, 'branch')).toEqual(expected);
});

test.each([
  ['12', '12'],
  ['TASK: 12', '12'],
  ['12 and 13', undefined],
  ['other#12', undefined],
])('in a table of links, the cell %j names %j', (cell, expected) => {
  const naming = itemNamingOf({
    name: 'out',
    type: 'service',
    account: 'branch',
    create: false,
    columns: {},
    concurrency: 1,
  });
  expect(naming && itemIdIn(cell, naming)).toBe(expected);
});
