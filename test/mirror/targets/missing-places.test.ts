/** How each vendor answers when the place for new items is gone: its dead letter says so, and nothing is created. */
import { expect, test } from 'vitest';
import { startAsana } from '../../support/asana-standin.ts';
import { startGithub } from '../../support/github-standin.ts';
import type { SeenRequest } from '../../support/http-server.ts';
import { context, deliveryOf, type ItemVendor, needsOf } from '../../support/item-vendor.ts';
import { startJira } from '../../support/jira-standin.ts';
import { startLinear } from '../../support/linear-standin.ts';
import { anOutcome } from '../../support/matchers.ts';
import { startTodoist } from '../../support/todoist-standin.ts';

type Lose = (standin: ItemVendor) => unknown;

function searching(status: number, body: object): Lose {
  const isSearch = ({ method, path }: SeenRequest) =>
    path.endsWith('/search/jql') || (method === 'GET' && /\/(issues|tasks)$/.test(path));
  return ({ vendor }) => vendor.next({ status, body }, isSearch);
}

function creating(status: number, body: object): Lose {
  return ({ vendor, isCreation }) => vendor.next({ status, body }, isCreation);
}

const HIDDEN = { errorMessages: ["The value 'ABC' does not exist for the field 'project'."], errors: {} };
const INVALID = { errorMessages: [], errors: { project: 'valid project is required' } };
const ARCHIVED = { message: 'Repository was archived so is read-only.' };
const UNKNOWN = { errors: [{ message: 'project: Unknown object: 555' }] };
const NOT_FOUND = { error: 'Project not found', error_code: 478, http_code: 404 };
const becoming =
  (state: object): Lose =>
  (standin) =>
    Object.assign(standin, state);

test.each<[string, string, string, RegExp, () => Promise<ItemVendor>, Lose]>([
  [
    'GitHub',
    'vanished',
    'PLACE_MISSING',
    /no repository octo\/shop/,
    startGithub,
    searching(404, { message: 'Not Found' }),
  ],
  ['GitHub', 'is archived', 'READ_ONLY', /archived.*then replay/, startGithub, creating(403, ARCHIVED)],
  ['Jira', 'vanished, is archived or is hidden', 'PLACE_MISSING', /no project ABC/, startJira, searching(400, HIDDEN)],
  ['Jira', 'vanished after the search', 'PLACE_MISSING', /no project ABC/, startJira, creating(400, INVALID)],
  ['Asana', 'vanished', 'PLACE_MISSING', /no project 555/, startAsana, searching(404, UNKNOWN)],
  ['Linear', 'is retired', 'PLACE_MISSING', /team ENG is retired/, startLinear, becoming({ isRetired: true })],
  ['Todoist', 'vanished', 'PLACE_MISSING', /no project 6Jf8VQXxpwv56VQ7/, startTodoist, searching(404, NOT_FOUND)],
  ['Todoist', 'is archived', 'PLACE_MISSING', /unarchive it/, startTodoist, becoming({ isArchived: true })], // it would take the task
])('%s, whose place for new items %s: its dead letters say %s', async (_, __, reason, detail, start, lose) => {
  const standin = await start();
  const target = standin.openTarget(needsOf(standin.vendor), { create: true });
  lose(standin);
  expect(await target.deliver(deliveryOf(), context())).toMatchObject(anOutcome('refused', reason, detail));
  await target.close();
  await standin.vendor.close();
  expect([standin.count(), standin.vendor.complaints]).toEqual([0, []]);
});
