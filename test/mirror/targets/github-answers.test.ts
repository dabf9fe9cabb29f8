import { expect, test } from 'vitest';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { githubSettings, startGithub } from '../../support/github-standin.ts';
import { context, deliveryOf, SEEN_AT } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { VendorBed } from './vendor-bed.ts';

const bed = new VendorBed(startGithub, (needs) => openGithub(githubSettings(), needs));
const { deliver } = bed;

test('an answer that does not show the issue is no success', async () => {
  bed.harness.vendor.next({ status: 202 }, bed.harness.isWrite);
  expect(await deliver(true, bed.harness.put(false))).toMatchObject({ status: 'later', reason: 'UNREADABLE' });
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
  bed.harness.vendor.serverTime = SEEN_AT;
  const invalid = { message: 'Validation Failed', errors: [{ resource: 'Issue', code: 'custom', message }] };
  bed.harness.vendor.next({ status, headers, body: status === 422 ? invalid : { message } });
  const outcome = await deliver(true, bed.harness.put(false));
  expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs });
  expect(bed.needs.budget.limits429).toEqual([retryAfterMs]);
});

test.each([-3, 3])(
  'a limit until a time lasts as long as GitHub says if this clock is %i hours ahead',
  async (hours) => {
    const now = () => new Date(SEEN_AT.getTime() + hours * 3_600_000);
    const target = openGithub(githubSettings(), { ...bed.needs, now });
    bed.harness.vendor.serverTime = SEEN_AT;
    bed.harness.vendor.next({
      status: 403,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset },
      body: {},
    });
    const delivery = deliveryOf({ isCompleted: true }, { itemId: bed.harness.put(false) });
    expect(await target.deliver(delivery, context())).toMatchObject({ reason: 'LIMITED', retryAfterMs: 90_000 });
    await target.close();
  },
);

// "Wait for at least one minute … if your request continues to fail … wait for an exponentially increasing amount of time."
test('the pause of a secondary limit without a time doubles while the limit lasts, and not for calls in flight', async () => {
  const itemId = bed.harness.put(false);
  let nowMs = SEEN_AT.getTime();
  const limitedTarget = openGithub(githubSettings(), { ...bed.needs, now: () => new Date(nowMs) });
  const pauseAfter = async (ms: number) => {
    nowMs += ms;
    bed.harness.vendor.next({ status: 403, body: { message: 'You have exceeded a secondary rate limit' } });
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
    bed.harness.vendor.next({ status: 403, body: { message } }, bed.harness.isWrite);
    const outcome = await deliver(true, bed.harness.put(false));
    expect(outcome).toMatchObject(anOutcome('refused', 'READ_ONLY', `GitHub: ${message}; take`));
  },
);

test('a repository whose issues are disabled is not reported as a deleted issue or a missing repository', async () => {
  const disabled = { status: 410, body: { message: 'Issues are disabled for this repo' } };
  bed.harness.vendor.next(disabled);
  expect(await deliver(true, bed.harness.put(false))).toMatchObject({ status: 'refused', reason: 'ISSUES_DISABLED' });
  bed.harness.vendor.next(disabled);
  expect(await deliver(false)).toMatchObject({ status: 'refused', detail: expect.stringContaining('enable Issues') });
});

test('an answer that shows the old state is no success', async () => {
  const itemId = bed.harness.put(false);
  bed.harness.vendor.next({ body: { number: 1, state: 'open' } }, bed.harness.isWrite);
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
  bed.harness.vendor.next({ status: 422, body: { message: 'Validation Failed', errors } }, bed.harness.isCreation);
  expect(await deliver(false)).toMatchObject({
    reason: 'REJECTED',
    detail: expect.stringContaining('Validation Failed; title: missing_field; too fast; looks like spam'),
  });
});

test('a token without the permission is a problem of this issue, and the remedy names the missing permission', async () => {
  bed.harness.vendor.next(
    { status: 403, body: { message: 'Resource not accessible by personal access token' } },
    bed.harness.isWrite,
  );
  const outcome = await deliver(true, bed.harness.put(false));
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
  bed.harness.vendor.next({ status: 403, body: { message } });
  expect(await deliver(true, bed.harness.put(false))).toMatchObject(
    anOutcome('disabled', 'TOKEN_REFUSED', `${message}; check this target's token`),
  );
});
