import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, Target } from '../../../src/contract/target.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { withLabels } from '../../../src/mirror/targets/items/vendor-target.ts';
import { type GithubVendor, githubSettings, startGithub } from '../../support/github-standin.ts';
import { context, deliveryOf, type FakeLog, fakeLog, needsOf, SEEN_AT } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { detailSuite } from './detail-suite.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite, readMany } from './many-items-suite.ts';

itemSuite('an issue of GitHub', startGithub);
manyItemsSuite('an issue of GitHub', startGithub);
detailSuite('an issue of GitHub', startGithub, ({ issues }) => ({
  fields: ['title', 'description', 'labels', 'assignee'],
  cancelled: () => issues[0]?.state_reason,
  closed: 'not_planned',
  failure: { message: 'Server Error' },
}));

let harness: GithubVendor;
let target: Target;
let needs: ReturnType<typeof needsOf>;
let log: FakeLog;

beforeEach(async () => {
  harness = await startGithub();
  log = fakeLog();
  needs = needsOf(harness.vendor, { log });
  target = openGithub(githubSettings({ labels: ['mirror'], columns: { Shipped: 'completed', Done: 'open' } }), needs);
});

afterEach(async () => {
  await target.close();
  await harness.vendor.close();
  expect(harness.vendor.complaints).toEqual([]);
});

const deliver = (isCompleted: boolean, itemId?: string) =>
  target.deliver(deliveryOf({ isCompleted }, { itemId }), context());

test('an answer that does not show the issue is no success', async () => {
  harness.vendor.next({ status: 202 }, harness.isWrite);
  expect(await deliver(true, harness.put(false))).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
});

test('an issue is closed as completed and opened as reopened', async () => {
  const itemId = harness.put(false);
  expect((await deliver(true, itemId)).status).toBe('delivered');
  expect(harness.issues[0]).toMatchObject({ state: 'closed', state_reason: 'completed' });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: closed (completed) → open` });
  expect(harness.issues[0]).toMatchObject({ state: 'open', state_reason: 'reopened' });
});

test('an issue that was created and is not found later is reported each time, and not created again', async () => {
  expect(await deliver(false)).toMatchObject({ status: 'delivered' });
  harness.issues.splice(0);
  expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'NOT_SHOWN_YET' });
  log.age(60_000);
  const detail = expect.stringContaining('`lockstep links remove --target outside --account demo --task task:12`');
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(harness.issues).toEqual([]);
});

test('an issue that a person closed as not planned is not written again', async () => {
  const itemId = harness.put(true);
  if (harness.issues[0]) harness.issues[0].state_reason = 'not_planned';
  expect(await deliver(true, itemId)).toMatchObject({
    status: 'already',
    detail: expect.stringContaining('not_planned'),
  });
});

test('a created issue has the text of the task, its labels, and its marker in an invisible comment', async () => {
  await deliver(false);
  expect(harness.issues[0]).toMatchObject({
    title: 'Call the printer',
    body: expect.stringMatching(/^About the invoice\n\n<!-- lockstep-[\da-f]{12} -->$/),
    labels: ['mirror'],
  });
  expect(harness.issues[0]?.body).not.toContain('lockstep-000000000000');
});

test('an issue of ours is found on a later page, and the search ends after five', async () => {
  await deliver(false);
  for (let count = 0; count < 150; count++) harness.put(false);
  const again = openGithub(githubSettings(), needsOf(harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'already', itemId: 'octo/shop#1' });
  for (let count = 0; count < 500; count++) harness.put(false);
  await again.deliver(deliveryOf({ id: '77' }), context());
  await again.close();
  expect(harness.vendor.requests.filter(({ query }) => query.get('page') === '6')).toEqual([]);
});

const PULL_REQUEST = { diff_url: null, html_url: null, patch_url: null, url: null };

test('an issue that was transferred is read at its new address, written there, and linked by its new id', async () => {
  const itemId = harness.put(false);
  const [issue] = harness.issues;
  if (issue) issue.movedTo = { repo: 'octo/till', number: 3 };
  expect(await deliver(true, itemId)).toMatchObject({
    status: 'delivered',
    itemId: 'octo/till#3',
    detail: 'octo/till#3: open → closed',
  });
  expect(await target.readItem?.(itemId, context())).toMatchObject({ item: { itemId: 'octo/till#3' } });
  expect(issue?.state).toBe('closed');
});

test('no issue is created by the former name of a repository, and a person is told the remedy at once', async () => {
  harness.vendor.next({ status: 307, body: { message: 'Temporary Redirect' } }, harness.isCreation);
  const detail = expect.stringContaining('set owner and repo of this target to the new name');
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'MOVED', detail });
});

test('issues behind the last page that GitHub shows do not keep the others from being read together', async () => {
  const ids = [1, 2, 3].map(() => harness.put(true));
  const far = [9_901, 12_000, 12_001, 12_002].map((number) => `octo/shop#${number}`);
  const items = await target.readItems?.read([...far, ...ids], context());
  expect(items).toMatchObject(ids.map((itemId) => ({ itemId })));
  expect(harness.vendor.requests.map(({ query }) => query.get('page'))).toEqual(['1']);
});

test('issues are found on pages that missing numbers have moved up, and others are left to single reads', async () => {
  for (let count = 0; count < 450; count++) harness.put(true);
  harness.issues.splice(20, 220);
  const ids = ['3', '9', '15', '300', '301', '399', '400', '20', '100'].map((number) => `octo/shop#${number}`);
  const items = await readMany(target, ids);
  expect(items.map(({ itemId }) => itemId).toSorted()).toEqual(ids.slice(0, 8).toSorted());
  expect(harness.vendor.requests.length).toBeLessThanOrEqual(6);
});

test('a pull request that has the marker in its text is not treated as the issue', async () => {
  await deliver(false);
  const [issue] = harness.issues.splice(0, 1);
  if (issue) harness.issues.push({ ...issue, pull_request: PULL_REQUEST });
  const again = openGithub(githubSettings(), needsOf(harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: 'octo/shop#2' });
  await again.close();
});

test('a new pull request makes no task', async () => {
  const itemId = harness.put(false);
  harness.put(false);
  const [, other] = harness.issues;
  if (other) harness.issues[1] = { ...other, pull_request: PULL_REQUEST };
  const reading = openGithub({ ...githubSettings(), createTasks: true }, needsOf(harness.vendor));
  const times = { baseline: new Date(0), since: new Date(0) };
  expect(await reading.newItems?.(times, context())).toMatchObject({ status: 'read', items: [{ itemId }] });
  await reading.close();
});

test('a task that is linked with a pull request is refused, and nothing is written', async () => {
  harness.vendor.next({ body: { number: 7, state: 'open', pull_request: { url: 'x' } } });
  expect(await deliver(true, 'octo/shop#7')).toMatchObject({ status: 'refused', reason: 'NOT_AN_ISSUE' });
  expect(harness.vendor.requests).toHaveLength(1);
});

const reset = String(SEEN_AT.getTime() / 1000 + 90);
test.each([
  ['403 with Retry-After', 403, { 'retry-after': '7' }, 'forbidden', 7_000],
  [
    '403 with nothing remaining',
    403,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
    'API rate limit exceeded',
    90_000,
  ],
  ['429 with nothing remaining', 429, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, '', 90_000],
  ['403 of the secondary limit', 403, {}, 'You have exceeded a secondary rate limit', 60_000],
  ['403 after refused tokens', 403, {}, 'Maximum number of login attempts exceeded. Please try again later.', 60_000],
  [
    '403 with calls remaining, of the secondary limit',
    403,
    { 'x-ratelimit-remaining': '12' },
    'secondary rate limit',
    60_000,
  ],
  // https://github.com/cli/cli/issues/4801: GitHub limits new content so.
  ['422 of too much new content', 422, {}, 'was submitted too quickly', 60_000],
])('a limit told by %s stops the target for its time', async (_, status, headers, message, retryAfterMs) => {
  harness.vendor.serverTime = SEEN_AT;
  const invalid = { message: 'Validation Failed', errors: [{ resource: 'Issue', code: 'custom', message }] };
  harness.vendor.next({ status, headers, body: status === 422 ? invalid : { message } });
  const outcome = await deliver(true, harness.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
  expect(needs.budget.limits429).toEqual([retryAfterMs]);
});

test.each([-3, 3])(
  'a limit until a time lasts as long as GitHub says if this clock is %i hours ahead',
  async (hours) => {
    const now = () => new Date(SEEN_AT.getTime() + hours * 3_600_000);
    const target = openGithub(githubSettings(), { ...needs, now });
    harness.vendor.serverTime = SEEN_AT;
    harness.vendor.next({
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      body: {},
    });
    const delivery = deliveryOf({ isCompleted: true }, { itemId: harness.put(false) });
    expect(await target.deliver(delivery, context())).toMatchObject({ reason: 'LIMITED', retryAfterMs: 90_000 });
    await target.close();
  },
);

// "Wait for at least one minute … if your request continues to fail … wait for an exponentially increasing amount of time."
test('the pause of a secondary limit without a time doubles while the limit lasts, and not for calls in flight', async () => {
  const itemId = harness.put(false);
  let nowMs = SEEN_AT.getTime();
  const limitedTarget = openGithub(githubSettings(), { ...needs, now: () => new Date(nowMs) });
  const pauseAfter = async (ms: number) => {
    nowMs += ms;
    harness.vendor.next({ status: 403, body: { message: 'You have exceeded a secondary rate limit' } });
    const outcome = await limitedTarget.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
    return outcome.status === 'later' ? outcome.retryAfterMs : undefined;
  };
  const [first, inFlight, second, third] = [0, 10_000, 50_000, 130_000];
  expect(await pauseAfter(first)).toBe(60_000);
  expect(await pauseAfter(inFlight)).toBe(50_000);
  expect(await pauseAfter(second)).toBe(120_000);
  expect(await pauseAfter(third)).toBe(240_000);
  expect(await pauseAfter(3_600_000)).toBe(60_000);
  await limitedTarget.close();
});

test.each(['Repository was archived so is read-only.', 'Unable to create comment because issue is locked.'])(
  'the answer %j is a problem of the issue, not of the token',
  async (message) => {
    harness.vendor.next({ status: 403, body: { message } }, harness.isWrite);
    const outcome = await deliver(true, harness.put(false));
    expect(outcome).toMatchObject(anOutcome('refused', 'READ_ONLY', `GitHub: ${message}; take`));
  },
);

test('a repository whose issues are disabled is not reported as a deleted issue or a missing repository', async () => {
  const disabled = { status: 410, body: { message: 'Issues are disabled for this repo' } };
  harness.vendor.next(disabled);
  expect(await deliver(true, harness.put(false))).toMatchObject({ status: 'refused', reason: 'ISSUES_DISABLED' });
  harness.vendor.next(disabled);
  expect(await deliver(false)).toMatchObject({ status: 'refused', detail: expect.stringContaining('enable Issues') });
});

test('an answer that shows the old state is no success', async () => {
  const itemId = harness.put(false);
  harness.vendor.next({ body: { number: 1, state: 'open' } }, harness.isWrite);
  expect(await deliver(true, itemId)).toMatchObject(
    anOutcome('refused', 'STATE_KEPT', 'left the GitHub issue open instead of closed'),
  );
});

test('a refusal names each field that GitHub does not accept', async () => {
  const errors = [
    { resource: 'Issue', field: 'title', code: 'missing_field' },
    'too fast',
    { message: 'looks like spam' },
  ];
  harness.vendor.next({ status: 422, body: { message: 'Validation Failed', errors } }, harness.isCreation);
  expect(await deliver(false)).toMatchObject({
    reason: 'REJECTED',
    detail: expect.stringContaining('Validation Failed; title: missing_field; too fast; looks like spam'),
  });
});

test('an issue whose creation was not answered is found behind 600 newer ones, and with too many none is created', async () => {
  harness.vendor.next('lose', harness.isCreation);
  await deliver(false);
  for (let count = 0; count < 600; count++) harness.put(false);
  log.age(40 * 24 * 60 * 60_000);
  harness.limits.mostOnPage = 25;
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'TOO_MANY_ITEMS' });
  harness.limits.mostOnPage = 100;
  expect(await deliver(false)).toMatchObject({ status: 'already', itemId: 'octo/shop#1' });
  const since = harness.vendor.requests.findLast(({ query }) => query.has('since'))?.query.get('since') ?? '';
  expect(SEEN_AT.getTime() - Date.parse(since)).toBeGreaterThan(40 * 24 * 60 * 60_000);
  expect(harness.vendor.requests.filter((request) => harness.isCreation(request))).toHaveLength(1);
});

test('the search for an issue whose creation was not answered ends with the issues of that day', async () => {
  harness.vendor.next('break', harness.isCreation);
  await deliver(false);
  for (let count = 0; count < 600; count++) harness.put(false);
  needs = { ...needsOf(harness.vendor, { log }), now: () => new Date('2026-06-01T00:00:00Z') };
  log.age(60_000);
  const later = openGithub(githubSettings(), needs);
  expect(await later.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered' });
  await later.close();
  expect(harness.vendor.requests.filter(({ query }) => query.get('page') === '2')).toEqual([]);
});

test('a token without the permission is a problem of this issue, and the remedy names the missing permission', async () => {
  harness.vendor.next(
    { status: 403, body: { message: 'Resource not accessible by personal access token' } },
    harness.isWrite,
  );
  const outcome = await deliver(true, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NOT_ALLOWED' });
  expect(outcome.detail).toContain('Issues: read and write');
  expect(outcome.detail).toContain('not accessible by personal access token');
});

// As octokit.rb tells them apart: lib/octokit/error.rb.
test.each([
  'Sorry. Your account was suspended.',
  'This installation has been suspended',
  'At least one email address must be verified to do that.',
])('the answer %j refuses all issues, so no issue becomes a dead letter', async (message) => {
  harness.vendor.next({ status: 403, body: { message } });
  expect(await deliver(true, harness.put(false))).toMatchObject(
    anOutcome('disabled', 'TOKEN_REFUSED', `${message}; check this target's token`),
  );
});

test('a missing repository is refused when an issue is to be created', async () => {
  harness.vendor.next(harness.missing);
  expect(await deliver(false)).toMatchObject(anOutcome('refused', 'PLACE_MISSING', 'octo/shop'));
});

test.each([
  ['Shipped', false, true],
  [' shipped', false, true],
  ['Done', true, false],
  ['Elsewhere', true, true],
  ['Elsewhere', false, false],
])('a card in the column %j with isCompleted=%s makes a closed issue: %s', async (status, isCompleted, closed) => {
  const itemId = harness.put(!closed);
  await target.deliver(deliveryOf({ kind: 'card', status, isCompleted }, { itemId, event: 'changed' }), context());
  expect(harness.isCompleted(itemId)).toBe(closed);
});

test('an assignee and labels that GitHub leaves out are named once for each issue, and stop nothing', async () => {
  harness.leavesOut.add('assignees').add('labels');
  const settings = {
    fields: { assignee: 'ann@example.com', labels: ['crm'] },
    people: { 'ann@example.com': 'ann-octo' },
    onChange: ['title' as const],
  };
  const send = (delivery: Delivery) => {
    const process = openGithub(githubSettings(settings), needsOf(harness.vendor, { log }));
    return process.deliver(delivery, context()).finally(() => process.close());
  };
  const first = await send(deliveryOf({ isCompleted: true }));
  expect(first).toMatchObject({ status: 'refused', reason: 'FIELD_LEFT_OUT', itemId: 'octo/shop#1' });
  expect(first.detail).toMatch(
    /left out the assignee ann-octo of octo\/shop#1: give .*; GitHub left out the label crm/,
  );
  expect(harness.issues).toMatchObject([{ state: 'closed' }]);
  const second = await send(deliveryOf({ title: 'Call Lee' }, { itemId: 'octo/shop#1' }));
  expect(second).toMatchObject({ status: 'delivered', detail: expect.stringMatching(/title written/) });
  expect(harness.issues).toMatchObject([{ title: 'Call Lee', state: 'open' }]);
});

test('a label counts as the same in another case, as GitHub has one label for both', () => {
  const change = { add: ['done', 'Urgent'], remove: ['new'] };
  expect(withLabels(['New', 'urgent', 'crm'], change)).toEqual(['urgent', 'crm', 'done']);
});

test('an issue of ours is found, and its comment, though the server allows fewer on a page than asked for', async () => {
  const created = await deliver(false);
  for (let count = 0; count < 9; count++) harness.put(false);
  harness.limits.mostOnPage = 3;
  const again = openGithub(githubSettings({ comment: true }), needsOf(harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ itemId: 'itemId' in created && created.itemId });
  harness.comments.unshift(...['1', '2', '3'].map((id) => ({ id, itemId: 'octo/shop#1', text: 'By a person' })));
  await again.close();
  const third = openGithub(githubSettings({ comment: true }), needsOf(harness.vendor));
  expect(await third.deliver(deliveryOf({}, { itemId: 'octo/shop#1' }), context())).toMatchObject({
    status: 'already',
  });
  await third.close();
  expect([harness.count(), harness.comments.length]).toEqual([10, 4]);
});
