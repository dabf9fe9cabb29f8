import { expect, test } from 'vitest';
import type { Delivery } from '../../../src/contract/target.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { withLabels } from '../../../src/mirror/targets/items/vendor-target.ts';
import { githubSettings, startGithub } from '../../support/github-standin.ts';
import { context, deliveryOf, needsOf, SEEN_AT } from '../../support/item-vendor.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite, readMany } from './many-items-suite.ts';
import { VendorBed } from './vendor-bed.ts';

itemSuite('an issue of GitHub', startGithub);
manyItemsSuite('an issue of GitHub', startGithub);

const bed = new VendorBed(startGithub, (needs) =>
  openGithub(githubSettings({ labels: ['mirror'], columns: { Shipped: 'completed', Done: 'open' } }), needs),
);
const { deliver } = bed;

test('an issue is closed as completed and opened as reopened', async () => {
  const itemId = bed.harness.put(false);
  expect((await deliver(true, itemId)).status).toBe('delivered');
  expect(bed.harness.issues[0]).toMatchObject({ state: 'closed', state_reason: 'completed' });
  expect(await deliver(false, itemId)).toMatchObject({ detail: `${itemId}: closed (completed) → open` });
  expect(bed.harness.issues[0]).toMatchObject({ state: 'open', state_reason: 'reopened' });
});

test('an issue that was created and is not found later is reported each time, and not created again', async () => {
  expect(await deliver(false)).toMatchObject({ status: 'delivered' });
  bed.harness.issues.splice(0);
  expect(await deliver(false)).toMatchObject({ status: 'later', reason: 'NOT_SHOWN_YET' });
  bed.log.age(60_000);
  const detail = expect.stringContaining('`lockstep links remove --target outside --account demo --task task:12`');
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  expect(bed.harness.issues).toEqual([]);
});

test('an issue that a person closed as not planned is not written again', async () => {
  const itemId = bed.harness.put(true);
  if (bed.harness.issues[0]) bed.harness.issues[0].state_reason = 'not_planned';
  expect(await deliver(true, itemId)).toMatchObject({
    status: 'already',
    detail: expect.stringContaining('not_planned'),
  });
});

test('a created issue has the text of the task, its labels, and its marker in an invisible comment', async () => {
  await deliver(false);
  expect(bed.harness.issues[0]).toMatchObject({
    title: 'Call the printer',
    body: expect.stringMatching(/^About the invoice\n\n<!-- lockstep-[\da-f]{12} -->$/),
    labels: ['mirror'],
  });
  expect(bed.harness.issues[0]?.body).not.toContain('lockstep-000000000000');
});

test('an issue of ours is found on a later page, and the search ends after five', async () => {
  await deliver(false);
  for (let count = 0; count < 150; count++) bed.harness.put(false);
  const again = openGithub(githubSettings(), needsOf(bed.harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'already', itemId: 'octo/shop#1' });
  for (let count = 0; count < 500; count++) bed.harness.put(false);
  await again.deliver(deliveryOf({ id: '77' }), context());
  await again.close();
  expect(bed.harness.vendor.requests.filter(({ query }) => query.get('page') === '6')).toEqual([]);
});

const PULL_REQUEST = { diff_url: null, html_url: null, patch_url: null, url: null };

test('an issue that was transferred is read at its new address, written there, and linked by its new id', async () => {
  const itemId = bed.harness.put(false);
  const [issue] = bed.harness.issues;
  if (issue) issue.movedTo = { repo: 'octo/till', number: 3 };
  expect(await deliver(true, itemId)).toMatchObject({
    status: 'delivered',
    itemId: 'octo/till#3',
    detail: 'octo/till#3: open → closed',
  });
  expect(await bed.target.readItem?.(itemId, context())).toMatchObject({ item: { itemId: 'octo/till#3' } });
  expect(issue?.state).toBe('closed');
});

test('no issue is created by the former name of a repository, and a person is told the remedy at once', async () => {
  bed.harness.vendor.next({ status: 307, body: { message: 'Temporary Redirect' } }, bed.harness.isCreation);
  const detail = expect.stringContaining('set owner and repo of this target to the new name');
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'MOVED', detail });
});

test('issues behind the last page that GitHub shows do not keep the others from being read together', async () => {
  const ids = [1, 2, 3].map(() => bed.harness.put(true));
  const far = [9_901, 12_000, 12_001, 12_002].map((number) => `octo/shop#${number}`);
  const items = await bed.target.readItems?.read([...far, ...ids], context());
  expect(items).toMatchObject(ids.map((itemId) => ({ itemId })));
  expect(bed.harness.vendor.requests.map(({ query }) => query.get('page'))).toEqual(['1']);
});

test('issues are found on pages that missing numbers have moved up, and others are left to single reads', async () => {
  for (let count = 0; count < 450; count++) bed.harness.put(true);
  bed.harness.issues.splice(20, 220);
  const ids = ['3', '9', '15', '300', '301', '399', '400', '20', '100'].map((number) => `octo/shop#${number}`);
  const items = await readMany(bed.target, ids);
  expect(items.map(({ itemId }) => itemId).toSorted()).toEqual(ids.slice(0, 8).toSorted());
  expect(bed.harness.vendor.requests.length).toBeLessThanOrEqual(6);
});

test('a pull request that has the marker in its text is not treated as the issue', async () => {
  await deliver(false);
  const [issue] = bed.harness.issues.splice(0, 1);
  if (issue) bed.harness.issues.push({ ...issue, pull_request: PULL_REQUEST });
  const again = openGithub(githubSettings(), needsOf(bed.harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered', itemId: 'octo/shop#2' });
  await again.close();
});

test('a new pull request makes no task', async () => {
  const itemId = bed.harness.put(false);
  bed.harness.put(false);
  const [, other] = bed.harness.issues;
  if (other) bed.harness.issues[1] = { ...other, pull_request: PULL_REQUEST };
  const reading = openGithub({ ...githubSettings(), createTasks: true }, needsOf(bed.harness.vendor));
  const times = { baseline: new Date(0), since: new Date(0) };
  expect(await reading.newItems?.(times, context())).toMatchObject({ status: 'read', items: [{ itemId }] });
  await reading.close();
});

test('a task that is linked with a pull request is refused, and nothing is written', async () => {
  bed.harness.vendor.next({ body: { number: 7, state: 'open', pull_request: { url: 'x' } } });
  expect(await deliver(true, 'octo/shop#7')).toMatchObject({ status: 'refused', reason: 'NOT_AN_ISSUE' });
  expect(bed.harness.vendor.requests).toHaveLength(1);
});

test('an issue whose creation was not answered is found behind 600 newer ones, and with too many none is created', async () => {
  bed.harness.vendor.next('lose', bed.harness.isCreation);
  await deliver(false);
  for (let count = 0; count < 600; count++) bed.harness.put(false);
  bed.log.age(40 * 24 * 60 * 60_000);
  bed.harness.limits.mostOnPage = 25;
  expect(await deliver(false)).toMatchObject({ status: 'refused', reason: 'TOO_MANY_ITEMS' });
  bed.harness.limits.mostOnPage = 100;
  expect(await deliver(false)).toMatchObject({ status: 'already', itemId: 'octo/shop#1' });
  const since = bed.harness.vendor.requests.findLast(({ query }) => query.has('since'))?.query.get('since') ?? '';
  expect(SEEN_AT.getTime() - Date.parse(since)).toBeGreaterThan(40 * 24 * 60 * 60_000);
  expect(bed.harness.vendor.requests.filter((request) => bed.harness.isCreation(request))).toHaveLength(1);
});

test('the search for an issue whose creation was not answered ends with the issues of that day', async () => {
  bed.harness.vendor.next('break', bed.harness.isCreation);
  await deliver(false);
  for (let count = 0; count < 600; count++) bed.harness.put(false);
  bed.needs = { ...needsOf(bed.harness.vendor, { log: bed.log }), now: () => new Date('2026-06-01T00:00:00Z') };
  bed.log.age(60_000);
  const later = openGithub(githubSettings(), bed.needs);
  expect(await later.deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered' });
  await later.close();
  expect(bed.harness.vendor.requests.filter(({ query }) => query.get('page') === '2')).toEqual([]);
});

test.each([
  ['Shipped', false, true],
  [' shipped', false, true],
  ['Done', true, false],
  ['Elsewhere', true, true],
  ['Elsewhere', false, false],
])('a card in the column %j with isCompleted=%s makes a closed issue: %s', async (status, isCompleted, closed) => {
  const itemId = bed.harness.put(!closed);
  await bed.target.deliver(deliveryOf({ kind: 'card', status, isCompleted }, { itemId, event: 'changed' }), context());
  expect(bed.harness.isCompleted(itemId)).toBe(closed);
});

test('an assignee and labels that GitHub leaves out are named once for each issue, and stop nothing', async () => {
  bed.harness.leavesOut.add('assignees').add('labels');
  const settings = {
    fields: { assignee: 'ann@example.com', labels: ['crm'] },
    people: { 'ann@example.com': 'ann-octo' },
    onChange: ['title' as const],
  };
  const send = (delivery: Delivery) => {
    const process = openGithub(githubSettings(settings), needsOf(bed.harness.vendor, { log: bed.log }));
    return process.deliver(delivery, context()).finally(() => process.close());
  };
  const first = await send(deliveryOf({ isCompleted: true }));
  expect(first).toMatchObject({ status: 'refused', reason: 'FIELD_LEFT_OUT', itemId: 'octo/shop#1' });
  expect(first.detail).toMatch(
    /left out the assignee ann-octo of octo\/shop#1: give .*; GitHub left out the label crm/,
  );
  expect(bed.harness.issues).toMatchObject([{ state: 'closed' }]);
  const second = await send(deliveryOf({ title: 'Call Lee' }, { itemId: 'octo/shop#1' }));
  expect(second).toMatchObject({ status: 'delivered', detail: expect.stringMatching(/title written/) });
  expect(bed.harness.issues).toMatchObject([{ title: 'Call Lee', state: 'open' }]);
});

test('a label counts as the same in another case, as GitHub has one label for both', () => {
  const change = { add: ['done', 'Urgent'], remove: ['new'] };
  expect(withLabels(['New', 'urgent', 'crm'], change)).toEqual(['urgent', 'crm', 'done']);
});

test('an issue of ours is found, and its comment, though the server allows fewer on a page than asked for', async () => {
  const created = await deliver(false);
  for (let count = 0; count < 9; count++) bed.harness.put(false);
  bed.harness.limits.mostOnPage = 3;
  const again = openGithub(githubSettings({ comment: true }), needsOf(bed.harness.vendor));
  expect(await again.deliver(deliveryOf(), context())).toMatchObject({ itemId: 'itemId' in created && created.itemId });
  bed.harness.comments.unshift(...['1', '2', '3'].map((id) => ({ id, itemId: 'octo/shop#1', text: 'By a person' })));
  await again.close();
  const third = openGithub(githubSettings({ comment: true }), needsOf(bed.harness.vendor));
  expect(await third.deliver(deliveryOf({}, { itemId: 'octo/shop#1' }), context())).toMatchObject({
    status: 'already',
  });
  await third.close();
  expect([bed.harness.count(), bed.harness.comments.length]).toEqual([10, 4]);
});
