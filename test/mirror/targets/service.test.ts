/** Tasks at another account that follow those they are linked with. */
import { expect, test } from 'vitest';
import { openService } from '../../../src/mirror/targets/service/service.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { BranchBed, deliver } from './branch-account.ts';

const bed = new BranchBed();
const { begin } = bed;

test.each([true, false])('marks the linked task isCompleted=%s, once, after a read', async (isCompleted) => {
  const target = await begin();
  const [, itemId = ''] = await bed.branch.put([{ isCompleted: !isCompleted }, { isCompleted: !isCompleted }]);
  const [from, to] = isCompleted ? ['open', 'completed'] : ['completed', 'open'];
  expect(await deliver(target, isCompleted, itemId)).toEqual({
    status: 'delivered',
    detail: `${itemId}: ${from} → ${to}`,
  });
  expect(await deliver(target, isCompleted, itemId)).toMatchObject({ status: 'already' });
  expect((await bed.branch.there()).map((task) => task.isCompleted)).toEqual([!isCompleted, isCompleted]);
  expect([bed.branch.calls('tasks.complete'), bed.branch.calls('tasks.getall')]).toEqual([1, 0]);
});

test('marks nothing for a delivery that another process may send by then', async () => {
  const target = await begin();
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  const outcome = await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), {
    ...context(),
    mayDispatch: () => bed.branch.calls('tasks.get') === 0,
  });
  expect(outcome).toMatchObject({ status: 'later' });
  expect([await bed.branch.there(), bed.branch.calls('tasks.get')]).toMatchObject([[{ isCompleted: false }], 1]);
});

test('settings decide from its column whether a card is completed', async () => {
  await begin();
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  const target = bed.branch.open({ columns: { Shipped: 'completed' } });
  const card = deliveryOf({ kind: 'card', status: 'shipped', isCompleted: false }, { itemId });
  expect(await target.deliver(card, context())).toMatchObject({ status: 'delivered' });
  expect(await bed.branch.there()).toMatchObject([{ isCompleted: true }]);
});

test('marks a task without isCompleted each time', async () => {
  const target = await begin();
  const [itemId = ''] = await bed.branch.put([{ taskName: 'silent' }]);
  expect(await deliver(target, false, itemId)).toMatchObject({ status: 'delivered' });
});

test('changes nothing for a deleted task, and tells a person what to do', async () => {
  const target = await begin();
  const gone = deliveryOf({ isGone: true }, { itemId: '7', event: 'gone' });
  expect(await target.deliver(gone, context())).toMatchObject({ status: 'skipped', reason: 'TASK_GONE' });
  expect(bed.branch.calls('tasks.get')).toBe(0);
});

test('skips a task without a link and says how to link it, unless the settings allow creation', async () => {
  await begin();
  const outcome = await deliver(bed.branch.open({ create: false }), false);
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'NOT_LINKED' });
  expect(outcome.detail).toMatch(/branch#12.*create: true/);
  expect(await bed.branch.there()).toEqual([]);
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
  expect(bed.branch.calls('tasks.get')).toBe(0);
});

test('readItem returns the task’s state', async () => {
  const target = await begin();
  const [itemId = ''] = await bed.branch.put([{ isCompleted: true }]);
  const item = { itemId, isCompleted: true, status: 'completed' };
  expect(await target.readItem?.(itemId, context())).toEqual({ status: 'found', item });
});

test('a task that the service refuses makes a dead letter with its message, and nothing waits', async () => {
  const target = await begin();
  const task = { startDate: '2026-02-30T10:00:00' };
  const refused = await target.deliver(deliveryOf(task), context());
  expect(refused).toMatchObject(anOutcome('refused', 'REJECTED', 'startDate'));
  expect(await deliver(target, false)).toMatchObject({ status: 'delivered' });
});

test('a refused key suspends the account, and nothing is sent to it until the key is accepted', async () => {
  await begin();
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  bed.branch.useKey('wrong');
  const target = bed.branch.open();
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject(anOutcome('later', 'ACCOUNT_SUSPENDED', 'accounts.branch.apiKey'));
  expect(outcome).toMatchObject({ isLimited: true });
  expect(JSON.stringify(outcome)).not.toContain('canary');
  const calls = bed.branch.calls('tasks.get');
  expect(await deliver(target, true, itemId)).toMatchObject({ reason: 'ACCOUNT_SUSPENDED', isLimited: true });
  expect(bed.branch.calls('tasks.get')).toBe(calls);
  bed.branch.useKey('right');
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'delivered' });
});

test('a refused call is retried while the service does not show whether it refuses the key', async () => {
  await begin({ keyCheck: { status: 'unclear', why: 'it is away' } });
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  bed.branch.useKey('wrong');
  const detail = 'whether it refuses the key is unclear: it is away';
  expect(await deliver(bed.branch.open(), true, itemId)).toMatchObject(anOutcome('later', 'KEY_UNCLEAR', detail));
});

test('an account whose key cannot be read is retried later', async () => {
  await begin();
  expect(await deliver(bed.branch.open({ account: 'missing' }), true, '7')).toMatchObject({
    status: 'later',
    reason: 'SECRET_MISSING',
  });
});

test('a limit of the service pauses the target for the given time, and spends no attempt', async () => {
  const target = await begin({ behaviour: { rateLimit: { requestsPerSecond: 0.1, burst: 1 } } });
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  const outcome = await deliver(target, true, itemId);
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true });
  expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeGreaterThan(1_000);
});

test('the next attempt finds a mark whose answer was lost', async () => {
  const faults = { rate: 1, limit: 1, kinds: ['reset-after' as const], operations: ['tasks.complete'] };
  const target = await begin({ behaviour: { faults } });
  const [itemId = ''] = await bed.branch.put([{ isCompleted: false }]);
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
  expect(await deliver(target, true, itemId)).toMatchObject({ status: 'already' });
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
