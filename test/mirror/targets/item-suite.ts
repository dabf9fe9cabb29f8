/** The behaviour that every target with items must have, for all vendors. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import type { Reply, SeenRequest } from '../../support/http-server.ts';
import { context, deliveryOf, type ItemVendor, needsOf, readSecret, TOKEN } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';

const PAGE = '<!doctype html><html><body>Sign in</body></html>';

export function itemSuite(noun: string, startHarness: () => Promise<ItemVendor>): void {
  describe(`as every target with items, ${noun}`, () => {
    let harness: ItemVendor;
    let target: Target;

    beforeEach(async () => {
      harness = await startHarness();
      target = harness.openTarget(needsOf(harness.vendor), { create: true });
    });

    afterEach(async () => {
      await target.close();
      await harness.vendor.close();
      expect(harness.vendor.complaints).toEqual([]);
    });

    const deliver = (isCompleted: boolean, itemId?: string) =>
      target.deliver(deliveryOf({ isCompleted }, { itemId }), context());
    const writes = () => harness.vendor.requests.filter((request) => harness.isWrite(request)).length;

    test.each([true, false])(
      'is read, then brought to the state isCompleted=%s, and the outcome says from what',
      async (wanted) => {
        const itemId = harness.put(!wanted);
        const outcome = await deliver(wanted, itemId);
        expect(outcome).toMatchObject({ status: 'delivered', detail: expect.stringContaining(`${itemId}: `) });
        expect(outcome.detail).toMatch(/: \S.* → \S/);
        expect([harness.isCompleted(itemId), writes()]).toEqual([wanted, 1]);
      },
    );

    test.each([true, false])('is left alone where it is in the state isCompleted=%s already', async (wanted) => {
      const itemId = harness.put(wanted);
      expect(await deliver(wanted, itemId)).toMatchObject({ status: 'already' });
      expect([harness.isCompleted(itemId), writes()]).toEqual([wanted, 0]);
    });

    test('is read, and not written for a delivery that another process may send by then', async () => {
      const itemId = harness.put(false);
      const isOurs = () => harness.vendor.requests.length === 0;
      const outcome = await target.deliver(deliveryOf({ isCompleted: true }, { itemId }), {
        ...context(),
        mayDispatch: isOurs,
      });
      expect(outcome).toMatchObject({ status: 'later', reason: 'ABORTED' });
      expect([harness.vendor.requests.length, harness.isCompleted(itemId)]).toEqual([1, false]);
    });

    test('is not touched when its task is gone, and a person is told what to do', async () => {
      const itemId = harness.put(false);
      const outcome = await target.deliver(deliveryOf({ isGone: true }, { itemId, event: 'gone' }), context());
      expect(outcome).toMatchObject(anOutcome('skipped', 'TASK_GONE', 'by hand'));
      expect(harness.vendor.requests).toHaveLength(0);
    });

    test('is not created unless the settings ask for it: the task is skipped with how to link it', async () => {
      const careful = harness.openTarget(needsOf(harness.vendor), { create: false });
      const outcome = await careful.deliver(deliveryOf(), context());
      await careful.close();
      expect(outcome).toMatchObject(anOutcome('skipped', 'NOT_LINKED', harness.create ?? 'create: true'));
      expect(harness.vendor.requests).toHaveLength(0);
    });

    test('is created once for a task that is delivered twice without a link', async () => {
      const first = await deliver(false);
      const restarted = harness.openTarget(needsOf(harness.vendor), { create: true });
      const second = await restarted.deliver(deliveryOf(), context());
      await restarted.close();
      expect(first).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
      expect(second).toMatchObject({ status: 'already', itemId: 'itemId' in first ? first.itemId : '' });
      expect(harness.count()).toBe(1);
    });

    test('is created in the state of its task', async () => {
      const outcome = await deliver(true);
      expect(outcome).toMatchObject({
        status: 'delivered',
        itemId: expect.any(String),
        detail: expect.stringContaining('created'),
      });
      expect(harness.isCompleted('itemId' in outcome ? (outcome.itemId ?? '') : '')).toBe(true);
    });

    test('that is created and not shown yet is waited for, and not created again', async () => {
      harness.vendor.next(harness.missing, () => harness.count() === 1);
      expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'NOT_SHOWN_YET' });
      expect(await deliver(false)).toMatchObject({ status: 'already', itemId: expect.any(String) });
      expect(harness.count()).toBe(1);
    });

    test('is one for each task', async () => {
      await deliver(false);
      await target.deliver(deliveryOf({ id: '13' }), context());
      expect(harness.count()).toBe(2);
    });

    test('is one, though the write after its creation failed', async () => {
      harness.vendor.next({ status: 503 }, harness.isWrite);
      expect(await deliver(true)).toMatchObject({ status: 'later', reason: 'SERVER_ERROR', isUnclear: true });
      expect(await deliver(true)).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
      expect(harness.count()).toBe(1);
    });

    test('whose write is answered by a page of HTML is not treated as written', async () => {
      harness.vendor.next({ body: PAGE }, harness.isWrite);
      expect(await deliver(true, harness.put(false))).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
    });

    test.each<[string, Reply, object]>([
      ['401', { status: 401, body: {} }, { status: 'disabled', reason: 'TOKEN_REFUSED' }],
      ['403', { status: 403, body: {} }, { status: 'refused', reason: 'NOT_ALLOWED' }],
      ['429 with Retry-After', { status: 429, headers: { 'retry-after': '30' }, body: {} }, limited(30_000)],
      ['429 without a word', { status: 429, body: {} }, limited(60_000)],
      ['500', { status: 500, body: {} }, { status: 'later', reason: 'SERVER_ERROR' }],
      ['502 of a proxy', { status: 502, body: PAGE }, { status: 'later', reason: 'SERVER_ERROR' }],
      [
        '503 with Retry-After',
        { status: 503, headers: { 'retry-after': '9' } },
        { status: 'later', reason: 'SERVER_ERROR', retryAfterMs: 9_000, isLimited: true },
      ],
      ['200 and a page', { body: PAGE }, { status: 'later', reason: 'UNREADABLE' }],
      ['200 and half an answer', { body: '{"id":' }, { status: 'later', reason: 'UNREADABLE' }],
      ['200 and something else', { body: { hello: 'world' } }, { status: 'later', reason: 'UNREADABLE' }],
      ['200 and nothing', {}, { status: 'later', reason: 'UNREADABLE' }],
      ['409', { status: 409, body: {} }, { status: 'later', reason: 'CONFLICT' }],
      ['422', { status: 422, body: {} }, { status: 'refused', reason: 'REJECTED' }],
      [
        '301',
        { status: 301, headers: { location: 'https://elsewhere.example/1' } },
        { status: 'refused', reason: 'MOVED' },
      ],
      ['302', { status: 302, headers: { location: '/login' } }, { status: 'later', reason: 'REDIRECTED' }],
    ])('answered by %s to a read', async (_, reply, expected) => {
      const itemId = harness.put(false);
      harness.vendor.next(reply);
      const outcome = await deliver(true, itemId);
      expect(outcome).toMatchObject(expected);
      expect(outcome).not.toHaveProperty('isUnclear');
      expect([harness.vendor.requests.length, harness.isCompleted(itemId)]).toEqual([1, false]);
    });

    test('is neither written nor created by any answer that refuses it', async () => {
      const [itemId, closed] = [harness.put(false), harness.put(true)];
      for (const status of [400, 401, 403, 404, 409, 410, 413, 422, 429, 500, 503]) {
        const refused = {
          status: expect.stringMatching(/^(later|refused|disabled)$/),
          detail: expect.stringMatching(/./),
        };
        harness.vendor.next({ status, body: {} }, harness.isWrite);
        expect(await deliver(true, itemId)).toMatchObject(refused);
        harness.vendor.next({ status, body: {} }, harness.isWrite);
        expect(await deliver(false, closed)).toMatchObject(refused);
        harness.vendor.next({ status, body: {} }, harness.isCreation);
        expect(await target.deliver(deliveryOf({ id: `9${status}` }), context())).toMatchObject(refused);
      }
      expect([itemId, closed].map((each) => harness.isCompleted(each))).toEqual([false, true]);
      expect(harness.count()).toBe(2);
    });

    test('that is deleted makes a dead letter with how to link another, and readItem says missing', async () => {
      const itemId = harness.put(false);
      harness.vendor.next(harness.missing);
      expect(await deliver(true, `${itemId}99`)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING' });
      expect(await target.readItem?.(`${itemId}98`, context())).toEqual({ status: 'missing' });
    });

    test('gives readItem its state', async () => {
      const itemId = harness.put(true);
      const read = await target.readItem?.(itemId, context());
      expect(read).toEqual({ status: 'found', item: { itemId, isCompleted: true, status: expect.any(String) } });
    });

    test('whose write got no answer is found as it should be by the next attempt', async () => {
      const itemId = harness.put(false);
      harness.vendor.next('lose', harness.isWrite);
      expect(await deliver(true, itemId)).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
      expect(await deliver(true, itemId)).toMatchObject({ status: 'already' });
      expect([harness.isCompleted(itemId), writes()]).toEqual([true, 1]);
    });

    test('is not read where the connection breaks off: later', async () => {
      harness.vendor.next('break');
      expect(await deliver(true, harness.put(false))).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
    });

    test.each(['../../admin', 'a/../b#1', '', '12?x=1', 'x y'])(
      'named %j is refused before anything is sent',
      async (itemId) => {
        expect(await deliver(true, itemId)).toMatchObject({ status: 'refused', reason: 'ITEM_ID_INVALID' });
        expect(harness.vendor.requests).toHaveLength(0);
      },
    );

    test('at an address of this machine is refused unless that is allowed, and nothing connects', async () => {
      const guarded = harness.openTarget(needsOf(harness.vendor, { allowPrivate: false }), { create: true });
      const outcome = await guarded.deliver(deliveryOf({}, { itemId: harness.put(false) }), context());
      await guarded.close();
      expect(outcome).toMatchObject(anOutcome('disabled', 'ADDRESS_REFUSED', 'allowPrivate'));
      expect(harness.vendor.connections()).toBe(0);
    });

    test('is not asked for without a token, which may come back', async () => {
      const broken = {
        ...needsOf(harness.vendor),
        readSecret: () => readSecret({ from: 'env', name: 'X', where: 'targets.outside.token' }),
      };
      const without = harness.openTarget(broken, { create: true });
      expect(await without.deliver(deliveryOf({}, { itemId: harness.put(false) }), context())).toMatchObject({
        status: 'later',
        reason: 'SECRET_MISSING',
      });
      await without.close();
      expect(harness.vendor.requests).toHaveLength(0);
    });

    test.each([200, 400, 401, 500])(
      'of a vendor that answers %i with what it was sent shows no token',
      async (status) => {
        harness.vendor.next(({ headers }) => ({
          status,
          body: { message: `${JSON.stringify(headers)} ${secretIn(headers)}` },
        }));
        const shown = JSON.stringify(await deliver(true, harness.put(false)));
        const [request] = harness.vendor.requests;
        const sent =
          secretIn(request?.headers ?? {})
            .split(' ')
            .at(-1) ?? '';
        expect(sent.length).toBeGreaterThan(8);
        expect(shown).not.toContain(sent);
        expect(shown).not.toContain(TOKEN);
      },
    );

    test.each([302, 303, 409])(
      'whose creation was answered by %i, which does not say that nothing was created, is not created again at once',
      async (status) => {
        harness.vendor.next({ status, headers: { location: '/created' }, body: {} }, harness.isCreation);
        expect(await deliver(false)).toMatchObject({ status: 'later', retryAfterMs: expect.any(Number) });
        expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'NOT_SHOWN_YET' });
        expect(harness.vendor.requests.filter((request) => harness.isCreation(request))).toHaveLength(1);
      },
    );

    test('whose creation was answered by nothing is looked for, later, and not created again', async () => {
      harness.vendor.next('lose', harness.isCreation);
      const lost = await deliver(false);
      expect(lost).toMatchObject({ status: 'later', detail: expect.stringContaining('may have been created') });
      expect('retryAfterMs' in lost && lost.retryAfterMs).toBeGreaterThanOrEqual(60_000);
      expect(await deliver(false)).toMatchObject({ status: 'already', itemId: expect.any(String) });
      expect(harness.count()).toBe(1);
    });
  });
}

function limited(retryAfterMs: number) {
  return { status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs };
}

/** The header that carries the token. */
function secretIn(headers: SeenRequest['headers']): string {
  return String(headers.authorization ?? headers['x-redmine-api-key']);
}
