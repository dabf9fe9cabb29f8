import pino from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { Delivery, DeliveryOutcome, Target } from '../../../src/contract/target.ts';
import { keepItemLinks, sourceIdOf } from '../../../src/mirror/links/item-links.ts';
import { createLinker, type Linker } from '../../../src/mirror/links/link-by-text.ts';
import { listLinks } from '../../../src/mirror/links/list-links.ts';
import { dropOutboxClaims, takeOutboxClaim } from '../../../src/mirror/outbox/claims.ts';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import { startDelivering } from '../../../src/mirror/outbox/delivering.ts';
import { jiraNaming } from '../../../src/mirror/targets/items/item-naming.ts';
import type { TaskChange } from '../../../src/mirror/tasks/task-state.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { deliveryOf } from '../../support/item-vendor.ts';
import { PATIENT } from '../../support/patient.ts';
import { change, deliveryRows, forgetDeliveries, hasOpen, queue } from '../outbox/delivery-worlds.ts';
import { createVirtualClock } from '../outbox/virtual-clock.ts';

let linker: Linker;
const database = await freshLedger();
beforeEach(async () => {
  await forgetDeliveries(database);
  linker = createLinker({ db: database.pool, target: 'issues' });
  HOW = how(await claim());
});
afterAll(() => database.close());

/** As the dispatcher of one process sends. */
const how = (claimId: number) => ({ signal: new AbortController().signal, runId: 'run-1', claimId });
const claim = async () =>
  (await takeOutboxClaim(database.pool, 'issues', { worker: WORKER, ttlMs: 60_000, now: undefined })).id;
let HOW: ReturnType<typeof how>;

/** A target with issues ABC-1, ABC-2, … that gives these answers. */
function issues(answer: (delivery: Delivery) => DeliveryOutcome | Promise<DeliveryOutcome>): Target {
  return {
    deliver: async (delivery) => answer(delivery),
    itemsIn: jiraNaming({ url: 'https://acme.atlassian.net', project: 'ABC' }).itemsIn,
    close: async () => {},
  };
}

/** Answers as targets with items do for a linked task, and for a task without a link. */
const answering = ({ itemId }: Delivery): DeliveryOutcome =>
  itemId === undefined
    ? { status: 'skipped', reason: 'NOT_LINKED', detail: 'no issue is linked' }
    : { status: 'delivered', detail: `${itemId} is done` };

const naming = (description: string, id = '12') => deliveryOf({ id, title: 'Call', description });

async function links(): Promise<readonly (readonly (string | null)[])[]> {
  const { links: found } = await listLinks(database.pool, {}, 100);
  return found.map(({ task, itemId, run }) => [task, itemId, run]);
}

const linkTask = (id: string, itemId: string) =>
  keepItemLinks(database.pool, 'issues', [{ scope: 'demo', task: { kind: 'task', id }, itemId, runId: undefined }]);

test.each(['delivered', 'already'] as const)('keeps an item that the text names once it is %s', async (status) => {
  const outcome = await linker(
    issues(() => ({ status, detail: 'x' })),
    naming('<b>ABC-7</b>'),
    HOW,
  );
  expect(outcome).toEqual({ status, detail: 'x', itemId: 'ABC-7' });
  expect(await links()).toEqual([['task:12', 'ABC-7', 'run-1']]);
});

test('an item that is named and not found is not kept, and the text is to be corrected', async () => {
  const missing = issues(() => ({ status: 'refused', reason: 'ITEM_MISSING', detail: 'it is deleted' }));
  const detail = expect.stringMatching(/^The text of task:12 names the item ABC-7, .*correct the text/);
  expect(await linker(missing, naming('ABC-7'), HOW)).toEqual({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(await links()).toEqual([]);
});

test.each([
  { status: 'refused', reason: 'NOT_AN_ISSUE', detail: 'it is a pull request' },
  { status: 'later', reason: 'HTTP_503', detail: 'it answered 503' },
  { status: 'skipped', reason: 'RECURRING', detail: 'it recurs' },
  { status: 'disabled', reason: 'TOKEN', detail: 'it was revoked' },
] as const)('an item is not kept where the target answers $status', async (outcome) => {
  expect(
    await linker(
      issues(() => outcome),
      naming('ABC-7'),
      HOW,
    ),
  ).toEqual(outcome);
  expect(await links()).toEqual([]);
});

test('skips a task that names several items, lists them all, and sends no request to the target', async () => {
  const asked: Delivery[] = [];
  const target = issues((delivery) => {
    asked.push(delivery);
    return answering(delivery);
  });
  const outcome = await linker(target, naming('ABC-7 or ABC-8'), HOW);
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'LINK_AMBIGUOUS' });
  expect(outcome.detail).toMatch(/ABC-7, ABC-8; .*links import.*replay --id msg_abcdefghijklmnopqrstuvwx/);
  expect(asked).toEqual([]);
});

test('a text that names hundreds of items makes a short message', async () => {
  const text = Array.from({ length: 300 }, (_, index) => `ABC-${index + 1}`).join(' ');
  const outcome = await linker(issues(answering), naming(text), HOW);
  expect(outcome.detail).toContain('ABC-5 and 295 more;');
  expect(outcome.detail?.length).toBeLessThan(500);
});

test('delivers a task whose text names no item unchanged', async () => {
  expect(await linker(issues(answering), naming('no issue'), HOW)).toMatchObject({ reason: 'NOT_LINKED' });
});

test('gives a target without items the delivery unchanged', async () => {
  const { itemsIn: _none, ...hook } = issues(({ itemId }) => ({ status: 'delivered', detail: `to ${itemId}` }));
  expect(await linker(hook, naming('ABC-7'), HOW)).toEqual({ status: 'delivered', detail: 'to undefined' });
});

test('a deleted task closes nothing that its text names', async () => {
  const gone = deliveryOf({ description: 'ABC-7', isGone: true }, { event: 'gone' });
  expect(await linker(issues(answering), gone, HOW)).toMatchObject({ reason: 'NOT_LINKED' });
});

test('an existing link goes before the text', async () => {
  const linked = { ...naming('ABC-7 ABC-8'), itemId: 'XY-1' };
  expect(await linker(issues(answering), linked, HOW)).toEqual({ status: 'delivered', detail: 'XY-1 is done' });
});

test('a link that a person made while the delivery waited goes before the text', async () => {
  await linkTask('12', 'XY-1');
  expect(await linker(issues(answering), naming('ABC-7'), HOW)).toMatchObject({ detail: 'XY-1 is done' });
  expect(await links()).toEqual([['task:12', 'XY-1', null]]);
});

test('leaves an item that another task is linked with unchanged, and names that task', async () => {
  await linkTask('9', 'ABC-7');
  const outcome = await linker(issues(answering), naming('ABC-7'), HOW);
  expect(outcome).toMatchObject({ status: 'skipped', reason: 'LINK_TAKEN' });
  expect(outcome.detail).toContain('ABC-7, which is already linked with task:9');
});

test('of two tasks that name one item, sent at the same time by two processes, one gets it', async () => {
  let answer = (_outcome: DeliveryOutcome): void => {};
  let isAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const target = issues(() => {
    isAsked();
    return new Promise<DeliveryOutcome>((resolve) => {
      answer = resolve;
    });
  });
  const other = createLinker({ db: database.pool, target: 'issues' });
  const first = linker(target, naming('ABC-7', '1'), HOW);
  await asked;
  expect(await other(target, naming('ABC-7', '2'), how(await claim()))).toMatchObject({ reason: 'LINK_TAKEN' });
  answer({ status: 'delivered' });
  await first;
  expect(await linker(target, naming('ABC-7', '2'), HOW)).toMatchObject({ reason: 'LINK_TAKEN' });
  expect(await links()).toEqual([['task:1', 'ABC-7', 'run-1']]);
});

test('an item whose delivery broke off with its process is free once the claim of that process is gone', async () => {
  const dead = await claim();
  void linker(
    issues(() => new Promise(() => {})),
    naming('ABC-7', '1'),
    how(dead),
  );
  const isClaimed = async () => expect((await database.pool.query('select from ledger.item_claims')).rowCount).toBe(1);
  await vi.waitFor(isClaimed, PATIENT);
  expect(await linker(issues(answering), naming('ABC-7', '2'), HOW)).toMatchObject({ reason: 'LINK_TAKEN' });
  await dropOutboxClaims(database.pool, [dead]);
  expect(await linker(issues(answering), naming('ABC-7', '2'), HOW)).toMatchObject({ itemId: 'ABC-7' });
});

test('leaves an item that was just created for another task to that task', async () => {
  const creations = creationLog(database.pool, 'issues');
  const owner = deliveryOf({ id: '9' });
  await creations.begin(owner, undefined);
  await creations.noteTaken(owner, 'ABC-7');
  const target = issues(answering);
  expect(await linker(target, naming('ABC-7'), HOW)).toMatchObject({ reason: 'LINK_TAKEN' });
  await linkTask('9', 'ABC-8'); // by a person
  expect(await linker(target, naming('ABC-7'), HOW)).toMatchObject({ itemId: 'ABC-7' });
  await creations.forget(owner);
});

test('an item that is created for another task while a delivery is on its way to it is not linked by the text', async () => {
  const creations = creationLog(database.pool, 'issues');
  const owner = deliveryOf({ id: '9' });
  const target = issues(async (delivery) => {
    await creations.begin(owner, undefined);
    await creations.noteTaken(owner, 'ABC-7');
    return answering(delivery);
  });
  expect(await linker(target, naming('ABC-7'), HOW)).toMatchObject({ reason: 'LINK_TAKEN' });
  expect(await links()).toEqual([]);
  await creations.forget(owner);
});

test('an item whose delivery failed is free for the next task that names it', async () => {
  const missing = issues(() => ({ status: 'refused', reason: 'ITEM_MISSING', detail: 'it is deleted' }));
  await linker(missing, naming('ABC-7', '1'), HOW);
  expect(await linker(issues(answering), naming('ABC-7', '2'), HOW)).toMatchObject({ itemId: 'ABC-7' });
});

test('while the ledger is away nothing is sent, and no attempt is spent', async () => {
  const away = createLinker({
    db: { query: () => Promise.reject(new Error('connection refused')) },
    target: 'issues',
  });
  expect(await away(issues(answering), naming('ABC-7'), HOW)).toMatchObject({
    status: 'later',
    reason: 'LEDGER_AWAY',
    isLimited: true,
  });
});

/** Delivers to this target until each of the batches has been delivered. */
async function delivered(target: Target, batches: readonly (readonly TaskChange[])[]): Promise<void> {
  const clock = createVirtualClock([database.pool]);
  const targets = { concurrencyOf: () => 4, open: async () => target };
  const log = pino({ level: 'silent' });
  const delivering = startDelivering({ pool: database.pool, worker: WORKER, names: ['issues'], targets, log, clock });
  for (const batch of batches) {
    await queue(database, batch, ['issues']);
    await clock.passUntil(async () => !(await hasOpen(database)));
  }
  let isClosed = false;
  void delivering.close().then(() => {
    isClosed = true;
  });
  await clock.passUntil(() => isClosed);
}

function titled(id: number, title: string, version = 1): TaskChange {
  const { task, ...rest } = change(id, version);
  return { ...rest, task: { ...task, title } };
}

test('delivers a task by its text first and by its link afterwards, and skips an ambiguous one', async () => {
  const got: string[] = [];
  const target = issues((delivery) => {
    got.push(`${sourceIdOf(delivery.task)} ${delivery.itemId}`);
    return answering(delivery);
  });
  await delivered(target, [
    [titled(1, 'ABC-1'), titled(2, 'ABC-2 ABC-3'), titled(3, 'none')],
    [titled(1, 'its text names ABC-9 now', 2)],
  ]);
  expect(got.sort()).toEqual(['task:1 ABC-1', 'task:1 ABC-1', 'task:3 undefined']);
  const reasons = (await deliveryRows(database)).map(({ reason }) => reason);
  expect(reasons).toEqual([null, null, 'LINK_AMBIGUOUS', 'NOT_LINKED']);
  expect(await links()).toEqual([['task:1', 'ABC-1', 'run-1']]);
});
