import { expect, test } from 'vitest';
import type { DeliveryOutcome } from '../../../src/contract/target.ts';
import { openHttp } from '../../../src/mirror/targets/http/http.ts';
import { itemNamingOf } from '../../../src/mirror/targets/items/item-naming.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { ACCOUNTS, EXAMPLES } from '../../support/documented-targets.ts';
import type { Reply } from '../../support/http-server.ts';
import { context, deliveryOf, type ItemVendor, needsOf } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { CLICKUP, exampleAt, GITLAB, MONDAY, startSystem } from '../../support/template-vendors.ts';
import { BASECAMP, KANBOARD, WRIKE, YOUTRACK } from '../../support/template-vendors-calls.ts';
import { HUBSPOT, SALESFORCE, SERVICENOW, ZENDESK } from '../../support/template-vendors-crm.ts';
import { AIRTABLE, GOOGLE_TASKS, REDMINE, VIKUNJA } from '../../support/template-vendors-lists.ts';
import { JIRA_DATA_CENTER, NOTION, OPENPROJECT, TRELLO } from '../../support/template-vendors-more.ts';
import { AZURE_DEVOPS, FRESHDESK, PLANNER, SMARTSHEET } from '../../support/template-vendors-office.ts';
import { itemSuite } from './item-suite.ts';

const SYSTEMS = [
  ...[CLICKUP, GITLAB, MONDAY, NOTION, TRELLO, JIRA_DATA_CENTER, OPENPROJECT],
  ...[AZURE_DEVOPS, FRESHDESK, PLANNER, SMARTSHEET],
  ...[AIRTABLE, GOOGLE_TASKS, REDMINE, VIKUNJA, KANBOARD, WRIKE, YOUTRACK, BASECAMP],
  ...[HUBSPOT, SALESFORCE, SERVICENOW, ZENDESK],
];

for (const system of SYSTEMS) itemSuite(`an item of ${system.name} by templates`, () => startSystem(system));

test.each(EXAMPLES.map((text) => [text.split('\n')[1]?.trim(), text]))(
  'the documented target %s is valid',
  (_, text) => {
    const { warnings } = settingsOf(`${ACCOUNTS}${text}`);
    expect(warnings).toEqual([]);
  },
);

test.each(SYSTEMS)('$name creates an item of the longest text, in any script', async (system) => {
  const harness = await startSystem(system);
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  const outcome = await target.deliver(deliveryOf({ description: '漢"'.repeat(15_000) }), context());
  await target.close();
  await harness.vendor.close();
  expect(outcome).toMatchObject({ status: 'delivered' });
  expect(
    Math.max(...harness.vendor.requests.map(({ path, query }) => path.length + query.toString().length)),
  ).toBeLessThan(2_000);
});

test.each(['COMPLEXITY_BUDGET_EXHAUSTED', 'FIELD_LIMIT_EXCEEDED', 'DAILY_LIMIT_EXCEEDED'])(
  'monday: the limit %s in a successful answer pauses the target, and refuses nothing',
  async (code) => {
    const harness = await startSystem(MONDAY);
    const target = harness.openTarget(needsOf(harness.vendor), { create: true });
    const headers = { 'retry-after': '12' };
    harness.vendor.next({ status: 200, headers, body: { errors: [{ message: 'Budget', extensions: { code } }] } });
    const outcome = await target.deliver(deliveryOf({}), context());
    await target.close();
    await harness.vendor.close();
    expect(outcome).toMatchObject({ status: 'later', reason: 'LIMITED', isLimited: true, retryAfterMs: 12_000 });
  },
);

test.each([
  [CLICKUP, { status: 401, body: { err: 'Team not authorized', ECODE: 'OAUTH_027' } }],
  [TRELLO, { status: 401, body: 'unauthorized card permission requested' }],
])('$name: a link to an item that the token may not see disables nothing', async (system, reply) => {
  const harness = await startSystem(system);
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  const read = async (answer: Reply) => {
    harness.vendor.next(answer);
    return target.readItem?.(system.idOf(0), context());
  };
  expect(await read(reply)).toMatchObject({ status: 'missing' });
  expect(await read({ status: 401, body: 'invalid token' })).toMatchObject({ status: 'disabled' });
  await target.close();
  await harness.vendor.close();
});

test.each(SYSTEMS)('$name gets title and text of the task, whatever characters they have', async (system) => {
  const harness = await startSystem(system);
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  const title = `"}, {"a": '&amp;?x=1#\\ {{ marker }} 📞`;
  const outcome = await target.deliver(deliveryOf({ title, description: '5 < 6 & "7"' }), context());
  await target.close();
  await harness.vendor.close();
  expect(harness.vendor.complaints).toEqual([]);
  expect(outcome).toMatchObject({ status: 'delivered' });
  expect(harness.items).toMatchObject([{ title: title.replace('&amp;', '&') }]);
  if (![MONDAY, PLANNER].includes(system)) expect(harness.items).toMatchObject([{ text: '5 < 6 & "7"' }]);
});

/** As another ledger would, which knows of no creation. */
async function deliverTo(harness: ItemVendor): Promise<DeliveryOutcome> {
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  const outcome = await target.deliver(deliveryOf(), context());
  await target.close();
  return outcome;
}

const REVISED = [
  { op: 'test', path: '/rev', value: 1 },
  { op: 'add', path: '/fields/System.State', value: 'To Do' },
];

test.each([
  [PLANNER, { percentComplete: 0 }],
  [AZURE_DEVOPS, REVISED],
  [ZENDESK, { ticket: { status: 'open', safe_update: true, updated_stamp: '1970-01-01T00:00:00Z' } }],
])(
  '$name: an item that a person changes between the read and the write is read again, and then completed',
  async (system, change) => {
    const harness = await startSystem(system);
    const target = harness.openTarget(needsOf(harness.vendor), { create: false });
    const itemId = harness.put(false);
    harness.vendor.next(async ({ method, path, query, headers, body }) => {
      const names = ['authorization', 'accept', 'content-type', 'if-match'];
      const sent = names.map((name): [string, string] => [name, String(headers[name] ?? '')]);
      const send = (text: string) =>
        fetch(`${harness.vendor.url}${path}?${query}`, { method, headers: sent, body: text });
      await send(JSON.stringify(change));
      const { status } = await send(body);
      return { status };
    }, harness.isWrite);
    const deliver = () => target.deliver(deliveryOf({ isCompleted: true }, { itemId }), context());
    expect(await deliver()).toMatchObject({ status: 'later', reason: 'CONFLICT' });
    expect(await deliver()).toMatchObject({ status: 'delivered' });
    await target.close();
    await harness.vendor.close();
    expect([harness.isCompleted(itemId), harness.vendor.complaints]).toEqual([true, []]);
  },
);

test('Microsoft Planner: a task is found on a later page of a plan, and not created again', async () => {
  const harness = await startSystem(PLANNER);
  await deliverTo(harness);
  harness.vendor.next(({ path }) => ({
    body: { value: [], '@odata.nextLink': `https://graph.microsoft.com/v1.0${path}?$skiptoken=2` },
  }));
  expect(await deliverTo(harness)).toMatchObject({ status: 'already' });
  await harness.vendor.close();
  expect(harness.count()).toBe(1);
});

test('Azure DevOps: the work items that a query shows are read, and only the one with the marker is taken', async () => {
  const harness = await startSystem(AZURE_DEVOPS);
  const first = await deliverTo(harness);
  const [created] = harness.items;
  const alike = [1, 2, 3].map(() => harness.put(false)).map(Number);
  const query = (...ids: number[]) =>
    harness.vendor.next({ body: { workItems: ids.map((id) => ({ id })) } }, ({ path }) => path.endsWith('/wiql'));
  query(99, ...alike, Number(created?.id));
  const again = await deliverTo(harness);
  query(...Array.from({ length: 21 }, (_, index) => index + 1));
  const tooMany = await deliverTo(harness);
  query(...alike);
  harness.vendor.next({ status: 503 }, ({ path }) => path === `/_apis/wit/workitems/${alike[1]}`);
  const failed = await deliverTo(harness);
  await harness.vendor.close();
  expect([first, again]).toMatchObject([{ status: 'delivered' }, { status: 'already', itemId: created?.id }]);
  expect(tooMany).toMatchObject({ status: 'refused', reason: 'TOO_MANY_ITEMS' });
  expect(failed).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
  expect(harness.count()).toBe(4);
});

test('Smartsheet: a box that was never ticked is open, and a sheet without the column is unreadable', async () => {
  const harness = await startSystem(SMARTSHEET);
  const target = harness.openTarget(needsOf(harness.vendor), { create: false });
  const itemId = harness.put(false);
  expect(await target.readItem?.(itemId, context())).toMatchObject({ item: { isCompleted: false, status: 'open' } });
  harness.vendor.next({ body: { id: 1, cells: [{ columnId: 7960873110000001, value: true }] } });
  expect(await target.readItem?.(itemId, context())).toMatchObject(
    anOutcome('later', 'UNREADABLE', 'columnId=7960873110000003'),
  );
  await target.close();
  await harness.vendor.close();
});

test('Jira Data Center notifies no person of a text', async () => {
  const harness = await startSystem(JIRA_DATA_CENTER);
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  await target.deliver(deliveryOf({ description: 'ask [~lee] or @lee' }), context());
  await target.close();
  await harness.vendor.close();
  expect(harness.items).toMatchObject([{ text: 'ask [ ~lee] or @\u200blee' }]);
});

test('GitLab: an issue that was moved to another project is not completed, and counts as deleted', async () => {
  const harness = await startSystem(GITLAB);
  const target = harness.openTarget(needsOf(harness.vendor), { create: false });
  const read = (members: object) => {
    harness.vendor.next({ body: { iid: 1, state: 'closed', ...members } });
    return target.readItem?.('1', context());
  };
  expect(await read({ moved_to_id: null })).toMatchObject({ item: { isCompleted: true } });
  expect(await read({})).toMatchObject({ item: { isCompleted: true } });
  expect(await read({ moved_to_id: 77 })).toEqual({ status: 'missing' });
  harness.vendor.next({ body: { iid: 1, state: 'closed', moved_to_id: 77 } });
  expect(await target.deliver(deliveryOf({}, { itemId: '1' }), context())).toMatchObject(
    anOutcome('refused', 'ITEM_MISSING', 'GitLab issue 1 counts as deleted (targets.our-gitlab.items.read.deleted)'),
  );
  await target.close();
  await harness.vendor.close();
});

test.each(['leave', 'close'] as const)('%s: the item of a task that is gone', async (whenGone) => {
  const harness = await startSystem(GITLAB);
  const { items, ...settings } = exampleAt('our-gitlab');
  const target = openHttp({ ...settings, items: items && { ...items, whenGone } }, needsOf(harness.vendor));
  const itemId = harness.put(false);
  const deliver = () => target.deliver(deliveryOf({ isGone: true }, { itemId, event: 'gone' }), context());
  const isClosed = whenGone === 'close';
  expect([await deliver(), await deliver()]).toMatchObject(
    isClosed ? [{ status: 'delivered' }, { status: 'already' }] : Array(2).fill({ reason: 'TASK_GONE' }),
  );
  await target.close();
  await harness.vendor.close();
  expect([harness.isCompleted(itemId), harness.vendor.complaints]).toEqual([isClosed, []]);
});

test('GitLab runs no line of a text as a command', async () => {
  const harness = await startSystem(GITLAB);
  const target = harness.openTarget(needsOf(harness.vendor), { create: true });
  const description = '/close\n\n/assign @lee\r\n/title Mine';
  expect(await target.deliver(deliveryOf({ description }), context())).toMatchObject({ status: 'delivered' });
  await target.close();
  await harness.vendor.close();
  expect(harness.items).toMatchObject([{ isDone: false, text: '/close\n\n/assign @\u200blee\n/title Mine' }]);
});

test.each([
  ['our-gitlab', 'https://gitlab.com/group/project/-/issues/12#note_1 GITLAB: 13', ['12', '13']],
  ['our-clickup', 'https://app.clickup.com/t/86a1b2c3 CLICKUP: 86a1b2c4', ['86a1b2c3', '86a1b2c4']],
  ['our-monday', 'see https://acme.monday.com/boards/1234567890/pulses/9876543210.', ['9876543210']],
  [
    'our-notion',
    'https://www.notion.so/acme/Call-the-printer-598337872cf94fdf8782e53db2076812',
    ['598337872cf94fdf8782e53db2076812'],
  ],
  ['our-trello', 'https://trello.com/c/hViugOYd/12-call-the-printer', ['hViugOYd']],
  ['our-jira-data-center', 'https://jira.example.com/browse/ABC-12 and XJIRA: ABC-13', ['ABC-12']],
  ['our-openproject', 'https://openproject.example.com/projects/example/work_packages/12/activity', ['12']],
  ['our-azure-devops', 'https://dev.azure.com/example/Shop/_workitems/edit/12 AZURE: 13', ['12', '13']],
  ['our-freshdesk', 'https://example.freshdesk.com/a/tickets/12?note=1', ['12']],
  [
    'our-planner',
    'https://planner.cloud.microsoft/webui/plan/xqQg5FS2LkCp935s-FIFm2QAFkHM/view/board/task/01gzSlKkIUSUl6DF_EilrmQAKDhh?tid=1',
    ['01gzSlKkIUSUl6DF_EilrmQAKDhh'],
  ],
  ['our-airtable', 'https://airtable.com/appA1b2C3d4E5f6G7/tblA1b2C3d4E5f6G7/recA1b2C3d4E5f100', ['recA1b2C3d4E5f100']],
  ['our-google-tasks', 'GTASK: dXNlckNvdW50MTA', ['dXNlckNvdW50MTA']],
  ['our-redmine', 'https://redmine.example.com/issues/12#note-3', ['12']],
  ['our-kanboard', 'https://kanboard.example.com/project/3/task/12 https://kanboard.example.com/task/13', ['12', '13']],
  ['our-wrike', 'WRIKE: IEAAABCDKQAB5C10', ['IEAAABCDKQAB5C10']],
  ['our-youtrack', 'https://example.youtrack.cloud/issue/SHOP-12/call-lee YOUTRACK: SHOP-13', ['SHOP-12', 'SHOP-13']],
  ['our-vikunja', 'https://vikunja.example.com/tasks/12', ['12']],
  ['our-hubspot', 'HUBSPOT: 41000000100', ['41000000100']],
  [
    'our-salesforce',
    'https://example.lightning.force.com/lightning/r/Task/00T5e0000041000EAA/view',
    ['00T5e0000041000EAA'],
  ],
  [
    'our-servicenow',
    'https://example.service-now.com/task.do?sys_id=1c741bd70b2322007518478d83673af3&sysparm_view=x',
    ['1c741bd70b2322007518478d83673af3'],
  ],
  ['our-zendesk', 'https://example.zendesk.com/agent/tickets/35436', ['35436']],
  ['our-smartsheet', 'https://app.smartsheet.com/sheets/Qx7?rowId=7960873110000012', ['7960873110000012']],
])('%s finds the items in %j', (name, text, items) => {
  const naming = itemNamingOf(exampleAt(name));
  expect(naming?.itemsIn(text)).toEqual(items);
  expect(naming?.howToLink.includes('by its address')).toBe(text.includes('https:'));
});
