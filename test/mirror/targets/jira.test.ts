import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery, TaskState } from '../../../src/contract/target.ts';
import { openJira } from '../../../src/mirror/targets/jira/jira.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { context, deliveryOf, needsOf, SEEN_AT } from '../../support/item-vendor.ts';
import { type JiraVendor, jiraSettings, startJira } from '../../support/jira-standin.ts';
import { anOutcome } from '../../support/matchers.ts';
import { itemSuite } from './item-suite.ts';
import { manyItemsSuite } from './many-items-suite.ts';

itemSuite('an issue of Jira', startJira);
manyItemsSuite('an issue of Jira', startJira);

let harness: JiraVendor;

beforeEach(async () => {
  harness = await startJira();
});

afterEach(async () => {
  await harness.vendor.close();
  expect(harness.vendor.complaints).toEqual([]);
});

async function deliver(
  task: Partial<TaskState>,
  itemId: string | undefined,
  settings: Partial<SettingsOf<'jira'>> = {},
  event: Delivery['event'] = 'changed',
) {
  const target = openJira(jiraSettings(settings), needsOf(harness.vendor));
  const outcome = await target.deliver(deliveryOf(task, { itemId, event }), context());
  await target.close();
  return outcome;
}

const statusAt = (key: string) => harness.issues.find((issue) => issue.key === key)?.status;

test.each([
  ['by its name among those of its category', true, {}, 'Done'],
  ['by its name', true, { doneStatus: 'released' }, 'Released'],
  ['by its category', false, {}, 'Backlog'],
  ['by its name', false, { openStatus: 'In Progress' }, 'In Progress'],
])(
  'a transition is chosen by where it leads, %s: isCompleted=%s with %j',
  async (_, isCompleted, settings, expected) => {
    const key = harness.put(!isCompleted);
    expect(await deliver({ isCompleted }, key, settings)).toMatchObject({
      status: 'delivered',
      detail: expect.stringMatching(`→ ${expected}$`),
    });
    expect(statusAt(key)).toBe(expected);
  },
);

test('takes a status in progress when there is no transition to a status that is to do', async () => {
  harness.statuses.delete('Backlog');
  const key = harness.put(true);
  expect(await deliver({ isCompleted: false }, key)).toMatchObject({ detail: `${key}: Done → In Progress` });
});

test.each([
  ['Closed', 'Resolved'],
  ['Resolved', 'Abandoned'],
])('prefers %s to %s among the statuses that are done', async (better, worse) => {
  for (const name of ['Released', 'Done']) harness.statuses.delete(name);
  harness.statuses.set(worse, 'done').set(better, 'done');
  const key = harness.put(false);
  expect(await deliver({ isCompleted: true }, key)).toMatchObject({ detail: `${key}: In Progress → ${better}` });
});

test('asks for doneStatus where it is unclear which status means that the work was done', async () => {
  harness.statuses.delete('Done');
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NO_TRANSITION' });
  expect(outcome.detail).toMatch(/Go Won't do → Won't do, Go Released → Released.*doneStatus/);
});

test.each([
  ['Backlog', 'Done'],
  ['Released', 'Released'],
])('an issue that someone moves to %s meanwhile is read again, and ends as %s', async (status, end) => {
  const key = harness.put(false);
  const moveFirst = () => {
    const [issue] = harness.issues;
    if (issue) issue.status = status;
    return { status: 400, body: { errorMessages: ['It is not valid for the current state.'] } };
  };
  harness.vendor.next(moveFirst, harness.isWrite);
  expect(await deliver({ isCompleted: true }, key)).toMatchObject({ detail: `${key}: In Progress → ${end}` });
  expect(statusAt(key)).toBe(end);
});

test('a transition to a done status gets the fields of the settings that are on its screen, and no others', async () => {
  harness.doneFields.set('resolution', true).set('comment', false);
  const doneFields = { resolution: { name: 'Fixed' }, priority: { name: 'High' } };
  const key = harness.put(false);
  expect(await deliver({ isCompleted: true }, key, { doneFields })).toMatchObject({ status: 'delivered' });
  expect(harness.issues[0]?.sent).toEqual({ resolution: { name: 'Fixed' } });
  expect(await deliver({ isCompleted: false }, key, { doneFields })).toMatchObject({ status: 'delivered' });
  expect(harness.issues[0]?.sent).toEqual({});
});

test('a transition that requires a field is refused with the name of the field and of the setting', async () => {
  harness.doneFields.set('resolution', true);
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'REJECTED' });
  expect(outcome.detail).toMatch(/resolution: It is required.*requires resolution: set doneFields/);
});

test('where no transition leads to the wanted status, the dead letter names those that there are', async () => {
  for (const name of ["Won't do", 'Released', 'Done']) harness.statuses.delete(name);
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NO_TRANSITION' });
  expect(outcome.detail).toContain('Go Backlog → Backlog, Go In Progress → In Progress');
});

test('a status of another name that Jira counts as done is left alone', async () => {
  const outcome = await deliver({ isCompleted: true }, harness.put(true), { doneStatus: 'Released' });
  expect(outcome).toMatchObject({ status: 'already', detail: expect.stringContaining('Done') });
});

test('a card goes to the status that its column is mapped to', async () => {
  const key = harness.put(false);
  const card = { kind: 'card', status: 'Shipping' } as const;
  const settings = { columns: { shipping: 'released' } };
  expect(await deliver(card, key, settings)).toMatchObject({ detail: `${key}: In Progress → Released` });
  expect(await deliver(card, key, settings)).toMatchObject({ status: 'already' });
});

test('two transitions at once are a conflict, which is tried again', async () => {
  harness.vendor.next({ status: 409, body: { errorMessages: ['The issue is being changed.'] } }, harness.isWrite);
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject(anOutcome('later', 'CONFLICT', 'being changed'));
});

test('a limit is reported with Jira’s reason', async () => {
  const headers = { 'retry-after': '12', 'ratelimit-reason': 'jira-burst-based' };
  harness.vendor.next({ status: 429, headers, body: {} }, harness.isWrite);
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject({ isLimited: true, retryAfterMs: 12_000 });
  expect(outcome.detail).toContain('jira-burst-based');
});

test('a limit of one issue puts off its delivery alone', async () => {
  const headers = { 'retry-after': '12', 'ratelimit-reason': 'jira-per-issue-on-write' };
  harness.vendor.next({ status: 429, headers, body: {} }, harness.isWrite);
  const needs = needsOf(harness.vendor);
  const target = openJira(jiraSettings(), needs);
  const delivery = deliveryOf({ isCompleted: true }, { itemId: harness.put(false) });
  const outcome = await target.deliver(delivery, context());
  expect(outcome).toMatchObject({ status: 'later', reason: 'CONFLICT', retryAfterMs: 12_000 });
  expect(outcome).not.toHaveProperty('isLimited');
  expect(needs.budget.limits429).toEqual([]);
  await target.close();
});

test('what Jira says of a refused write is in the dead letter', async () => {
  const body = { errorMessages: ['Not now'], errors: { resolution: 'Resolution is required.' } };
  harness.vendor.next({ status: 400, body }, harness.isWrite);
  const outcome = await deliver({ isCompleted: true }, harness.put(false));
  expect(outcome).toMatchObject({ status: 'refused', reason: 'REJECTED' });
  expect(outcome.detail).toContain('Not now; resolution: Resolution is required.');
});

test('a created issue has a title, its text as a document, and its marker as a label', async () => {
  await deliver({ title: 'Call\nthe <i>printer</i>' }, undefined);
  await deliver({ id: '13', description: '' }, undefined);
  expect(harness.issues[0]?.fields).toMatchObject({
    summary: 'Call the printer',
    labels: [expect.stringMatching(/^lockstep-[\da-f]{12}$/)],
    description: { type: 'doc', version: 1, content: [{ content: [{ type: 'text', text: 'About the invoice' }] }] },
  });
  expect(harness.issues[1]?.fields).not.toHaveProperty('description');
});

test('a creation without an answer waits until the search, which lags behind, must show it', async () => {
  harness.vendor.next('break', harness.isCreation);
  expect(await deliver({}, undefined)).toMatchObject({ status: 'later', retryAfterMs: 300_000 });
});

test('an issue that was created is known, though the search does not show it yet', async () => {
  const target = openJira(jiraSettings(), needsOf(harness.vendor));
  const completed = deliveryOf({ isCompleted: true });
  harness.isSearchBehind = true;
  harness.vendor.next({ status: 503 }, harness.isWrite);
  expect(await target.deliver(completed, context())).toMatchObject({ status: 'later' });
  expect(await target.deliver(completed, context())).toMatchObject({ status: 'delivered', itemId: 'ABC-1' });
  await target.close();
  expect(harness.count()).toBe(1);
});

test.each([
  ['a read', 404, { errorMessages: ['Issue does not exist or you do not have permission to see it.'] }, 'ABC-1'],
  ['a search', 200, { issues: [], isLast: true }, undefined],
])('a token that %s ignores is refused, and not the issue', async (_, status, body, itemId) => {
  const headers = { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' };
  harness.vendor.next({ status, headers, body });
  expect(await deliver({}, itemId)).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  expect(harness.vendor.requests).toHaveLength(1);
});

test('a created issue is found on a page that follows an empty one', async () => {
  await deliver({}, undefined);
  harness.vendor.next({ body: { issues: [], nextPageToken: 'next' } });
  expect(await deliver({}, undefined)).toMatchObject({ status: 'already' });
  expect(harness.vendor.requests.filter((request) => harness.isCreation(request))).toHaveLength(1);
});

test('an issue that moved to another project is read by its former key, written, and linked by its new one', async () => {
  const key = harness.put(false);
  Object.assign(harness.issues[0] ?? {}, { formerKey: key, key: 'XY-9' });
  expect(await deliver({ isCompleted: true }, key)).toMatchObject({
    status: 'delivered',
    itemId: 'XY-9',
    detail: 'XY-9: In Progress → Done',
  });
  expect(statusAt('XY-9')).toBe('Done');
});

test('the comment of a link is found behind those of people, page by page', async () => {
  const itemId = harness.put(false);
  const send = () => {
    const process = openJira(jiraSettings({ comment: true }), needsOf(harness.vendor));
    return process.deliver(deliveryOf({}, { itemId }), context()).finally(() => process.close());
  };
  await send();
  harness.comments.unshift(...['8', '9'].map((id) => ({ id, itemId, text: 'By a person' })));
  expect(await send()).toMatchObject({ status: 'already' });
  expect(harness.comments).toHaveLength(3);
});

const inline = (...content: object[]) => [{ type: 'paragraph', content }];
const text = (words: string, href?: string) => ({
  type: 'text',
  text: words,
  ...(href && { marks: [{ type: 'link', attrs: { href } }] }),
});

// As developer.atlassian.com/cloud/jira/platform/apis/document/nodes shows each node.
test.each([
  ['a mention', inline(text('Ask '), { type: 'mention', attrs: { id: '5b10', text: '@Ann Lee' } }), 'Ask @Ann Lee'],
  ['a date', inline(text('by '), { type: 'date', attrs: { timestamp: '1772323200000' } }), 'by 2026-03-01'],
  ['an emoji', inline({ type: 'emoji', attrs: { shortName: ':grinning:', text: '😀' } }), '😀'],
  ['an emoji without a text', inline({ type: 'emoji', attrs: { shortName: ':shop:' } }), ':shop:'],
  ['a status', inline({ type: 'status', attrs: { text: 'Blocked', color: 'red' } }), 'Blocked'],
  ['a card', inline({ type: 'inlineCard', attrs: { url: 'https://shop.example/7' } }), 'https://shop.example/7'],
  ['a card of its own', [{ type: 'blockCard', attrs: { url: 'https://shop.example/7' } }], 'https://shop.example/7'],
  ['a link', inline(text('the offer', 'https://shop.example/7')), 'the offer (https://shop.example/7)'],
  ['an address', inline(text('https://shop.example/7', 'https://shop.example/7')), 'https://shop.example/7'],
  [
    'a list of tasks',
    [
      {
        type: 'taskList',
        content: ['one', 'two'].map((each) => ({ type: 'taskItem', attrs: { state: 'TODO' }, content: [text(each)] })),
      },
    ],
    'one\ntwo',
  ],
  [
    'a part that opens',
    [{ type: 'expand', attrs: { title: 'More' }, content: inline(text('Details')) }],
    'More\nDetails',
  ],
  ['a node without a text', [...inline(text('See')), { type: 'rule' }], 'See'],
])('the text of a new issue has what its document shows: %s', async (_, content, expected) => {
  const times = { created: SEEN_AT, updated: SEEN_AT };
  const description = { type: 'doc', version: 1, content };
  const issues = [{ id: '10007', key: 'ABC-7', fields: { summary: 'Call', description, ...times } }];
  harness.vendor.next({ body: { issues }, headers: { date: SEEN_AT.toUTCString() } });
  const reading = openJira(jiraSettings({ createTasks: true }), needsOf(harness.vendor));
  const read = await reading.newItems?.({ baseline: SEEN_AT, since: SEEN_AT }, context());
  await reading.close();
  expect(read).toMatchObject({ items: [{ itemId: 'ABC-7', text: expected }] });
});
