/** What the answers of a system mean for a delivery, by the rules of the settings. */
import { expect, test } from 'vitest';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import type { HttpAnswers } from '../../../src/settings/target-http.ts';
import type { Reply } from '../../support/http-server.ts';
import { context, deliveryOf, needsOf, TOKEN } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { exampleAt } from '../../support/template-vendors.ts';
import { HttpBed } from './http-bed.ts';

const bed = new HttpBed();
const { replies, deliver } = bed;

const error = (code: string) => ({ ok: false, error: { code, message: 'Not now' } });

test.each<[Reply, object]>([
  [{ status: 204 }, { status: 'delivered' }],
  [{}, { status: 'later', reason: 'UNREADABLE' }],
  [{ body: 'ok' }, { status: 'later', reason: 'UNREADABLE' }],
  [{ body: {} }, { status: 'delivered' }],
  [{ body: '\ufeff{ "ok": true }' }, { status: 'delivered' }],
  [{ body: error('INVALID') }, anOutcome('refused', 'REJECTED', 'INVALID: Not now')],
  [{ body: error('LOCKED') }, anOutcome('later', 'SERVER_ERROR', 'answers.retry')],
  [{ status: 409, body: error('EXISTS') }, { status: 'delivered' }],
  [{ status: 400, body: error('LOCKED') }, { status: 'later' }],
  [
    { status: 400, body: error('INVALID') },
    { status: 'refused', detail: expect.stringContaining('Not now') },
  ],
  [{ status: 404 }, anOutcome('refused', 'PLACE_MISSING', 'targets.our-crm.send.path')],
  [{ status: 401 }, anOutcome('disabled', 'TOKEN_REFUSED', 'targets.our-crm.headers')],
  [
    { status: 429, headers: { 'retry-after': '7' } },
    { status: 'later', isLimited: true, retryAfterMs: 7_000 },
  ],
  [{ status: 503 }, { status: 'later', reason: 'SERVER_ERROR' }],
])('the answer %j is %j', async (reply, expected) => {
  replies.push(reply);
  expect(await deliver()).toMatchObject(expected);
});

const SIGN_IN = '<!DOCTYPE html>\n<html><title>Sign in</title></html>';
const none: HttpAnswers = { applied: [], missing: [], disabled: [], limited: [], retry: [], refused: [] };

test.each<[Partial<HttpAnswers>, Reply, object]>([
  [{}, { body: 'ok' }, { status: 'delivered' }],
  [{}, { body: SIGN_IN }, anOutcome('later', 'UNREADABLE', /sign in.*list 200/)],
  [{ code: '', retry: ['BUSY'] }, { body: SIGN_IN }, { status: 'later', reason: 'UNREADABLE' }],
  [{ applied: [200] }, { body: SIGN_IN }, { status: 'delivered' }],
  [{ applied: [202], success: '/ok' }, { status: 202, body: 'queued' }, { status: 'delivered' }],
  [{ retry: [202] }, { status: 202, body: {} }, { status: 'later', reason: 'SERVER_ERROR' }],
  [{}, { status: 304 }, anOutcome('later', 'UNREADABLE', /304, which shows no/)],
  [{}, { status: 412 }, { status: 'later', reason: 'CONFLICT' }],
  [{ retry: [409] }, { status: 409 }, { status: 'later', reason: 'CONFLICT' }],
  [{}, { status: 302 }, { status: 'later', reason: 'REDIRECTED' }],
  [{}, { body: error('INVALID') }, { status: 'delivered' }],
  [{ error: '/errors' }, { body: { errors: [] } }, { status: 'delivered' }],
  [{ error: '/errors' }, { body: { errors: [{}] } }, { status: 'refused', reason: 'REJECTED' }],
  [{ error: '/a~1b/0' }, { body: { 'a/b': ['no'] } }, { status: 'refused' }],
  [{ error: '/__proto__' }, { body: {} }, { status: 'delivered' }],
  [{ limited: [503] }, { status: 503, headers: { 'retry-after': '7' } }, { isLimited: true, retryAfterMs: 7_000 }],
  [{ limited: ['SLOW'], code: '/code' }, { body: { code: 'SLOW' } }, { isLimited: true, retryAfterMs: 60_000 }],
  [{ missing: [400] }, { status: 400 }, { status: 'refused', reason: 'PLACE_MISSING' }],
  [{ refused: [500] }, { status: 500 }, { status: 'refused', reason: 'REJECTED' }],
  // Azure DevOps answers a refused token by its page to sign in, with a 203.
  [{ disabled: [203] }, { status: 203, body: '<html>Sign In</html>' }, { status: 'disabled', reason: 'TOKEN_REFUSED' }],
  [
    { retry: ['12'], code: '/code' },
    { status: 400, body: { code: 12 } },
    { status: 'later', reason: 'SERVER_ERROR' },
  ],
])('with the rules %j the answer %j is %j', async (answers, reply, expected) => {
  replies.push(reply);
  expect(await deliver({ answers: { ...none, ...answers } })).toMatchObject(expected);
});

test.each<[Partial<HttpAnswers>, Reply, object]>([
  [{}, { body: 'ok' }, { status: 'delivered' }],
  [{}, { body: SIGN_IN }, { status: 'later', reason: 'UNREADABLE' }],
  [{ applied: [200] }, { body: SIGN_IN }, { status: 'delivered' }],
  [{}, { status: 409, headers: { 'retry-after': '7' } }, { status: 'later', reason: 'CONFLICT', retryAfterMs: 7_000 }],
  [{}, { status: 423 }, { status: 'later', reason: 'CONFLICT' }],
])('with the rules %j the answer %j to a change of an item is %j', async (answers, reply, expected) => {
  replies.push({ body: { dueComplete: false } }, reply);
  const linked = bed.open({ ...exampleAt('our-trello'), answers: { ...none, ...answers } });
  const completed = deliveryOf({ isCompleted: true }, { itemId: '5f2b6c1e0f' });
  expect(await linked.deliver(completed, context())).toMatchObject(expected);
});

test.each([
  ['each change', exampleAt('our-crm'), {}],
  ['an item', exampleAt('our-trello'), { itemId: '5f2b6c1e0f' }],
])('a limit that the body of a 200 tells stops all calls to the target: %s', async (_, settings, given) => {
  const needs = needsOf(bed.server);
  const answers = { ...none, limited: ['SLOW'], code: '/code' };
  const opened = openHttp({ ...settings, answers }, needs);
  replies.push({ body: { code: 'SLOW', said: TOKEN } });
  const outcome = await opened.deliver(deliveryOf({}, given), context());
  await opened.close();
  expect(outcome).toMatchObject({ isLimited: true });
  expect(JSON.stringify(outcome)).not.toContain(TOKEN);
  expect(needs.budget.limits429).toEqual([60_000]);
});

test('an answer that repeats the secret is stored without it', async () => {
  replies.push({ status: 400, body: { error: { message: `bad key ${TOKEN}` } } });
  expect(JSON.stringify(await deliver())).not.toContain(TOKEN);
});

test.each([
  [
    { id: 7, title: 'Call' },
    { status: 'found', item: { isCompleted: false } },
  ],
  [
    { id: 8, title: 'Call' },
    { status: 'later', reason: 'UNREADABLE' },
  ],
  [{ message: 'Please wait' }, { status: 'later', reason: 'UNREADABLE' }],
])('%j without a time of completion is an open item only if it shows the id', async (body, read) => {
  const { items } = exampleAt('our-openproject');
  replies.push({ body });
  const linked = bed.open({ items: items && { ...items, state: { at: '/resolved', open: [null] } } });
  expect(await linked.readItem?.('7', context())).toMatchObject(read);
});
