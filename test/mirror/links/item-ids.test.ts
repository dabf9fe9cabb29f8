import { expect, test } from 'vitest';
import { itemIdIn } from '../../../src/mirror/links/read-links.ts';
import { itemNamingOf, serviceNaming } from '../../../src/mirror/targets/items/item-naming.ts';
import { target } from '../../../src/settings/schema-target.ts';

const TOKEN = { env: 'TOKEN' };

/** The item that the cell names at a target of these settings. */
function named(settings: object, cell: string): string | undefined {
  const parsed = target.parse({ token: TOKEN, ...settings });
  // For names of items, settings are the same before they are resolved.
  const naming = itemNamingOf({ name: 'outside', ...parsed } as unknown as Parameters<typeof itemNamingOf>[0]);
  return naming && itemIdIn(cell, naming);
}

const GITHUB = { type: 'github', owner: 'Acme', repo: 'App' };
const JIRA = { type: 'jira', url: 'https://acme.atlassian.net', email: 'bot@example.com' };

test.each([
  [GITHUB, '12', 'acme/app#12'],
  [GITHUB, '#12', 'acme/app#12'],
  [GITHUB, 'GH: 12', 'acme/app#12'],
  [GITHUB, 'Acme/Other#12', 'acme/other#12'],
  [GITHUB, 'https://github.com/Acme/App/issues/12#issuecomment-3', 'acme/app#12'],
  [GITHUB, 'https://github.com/acme/app/pull/12', undefined],
  [GITHUB, 'elsewhere/app#12', undefined],
  [{ type: 'github' }, '12', undefined],
  [GITHUB, '#12 and #13', undefined],
  [GITHUB, '12.5', undefined],
  [JIRA, 'XY-7', 'XY-7'],
  [JIRA, 'JIRA: XY-7', 'XY-7'],
  [JIRA, 'https://acme.atlassian.net/browse/XY-7', 'XY-7'],
  [JIRA, 'https://other.atlassian.net/browse/XY-7', undefined],
  [JIRA, 'XY-7 Fix the login', undefined],
  [JIRA, 'xy-7', undefined],
  [{ type: 'linear' }, 'ENG-12', 'ENG-12'],
  [{ type: 'linear' }, 'https://linear.app/acme/issue/ENG-12/fix-it', 'ENG-12'],
  [{ type: 'asana' }, '1204567890123456', '1204567890123456'],
  [{ type: 'asana' }, 'https://app.asana.com/0/111/222', '222'],
  [{ type: 'asana' }, '12 34', undefined],
  [{ type: 'todoist' }, 'https://app.todoist.com/app/task/buy-milk-6X7rM8997g3RQmvh', '6X7rM8997g3RQmvh'],
  [{ type: 'todoist' }, '6X7rM8997g3RQmvh', '6X7rM8997g3RQmvh'],
])('%j: %j names %j', (settings, cell, expected) => {
  expect(named(settings, cell)).toBe(expected);
});

test.each([
  ['12', '12'],
  ['TASK: 12', '12'],
  ['12 and 13', undefined],
  ['other#12', undefined],
])('%j names the task %j of another account', (cell, expected) => {
  expect(itemIdIn(cell, serviceNaming({ account: 'branch' }))).toBe(expected);
});

test('the example of each type is a valid id', () => {
  for (const settings of [GITHUB, JIRA, { type: 'linear' }, { type: 'asana' }, { type: 'todoist' }]) {
    const parsed = target.parse({ token: TOKEN, ...settings });
    const naming = itemNamingOf({ name: 'outside', ...parsed } as unknown as Parameters<typeof itemNamingOf>[0]);
    expect(naming && itemIdIn(naming.example, naming)?.toLowerCase()).toBe(naming?.example.toLowerCase());
  }
});
