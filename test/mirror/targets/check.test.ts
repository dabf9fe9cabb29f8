/** What `lockstep targets check` finds at each vendor, without writing. */
import { expect, test } from 'vitest';
import type { Finding, Target } from '../../../src/contract/target.ts';
import { openAsana } from '../../../src/mirror/targets/asana/asana.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { openJira } from '../../../src/mirror/targets/jira/jira.ts';
import { openLinear } from '../../../src/mirror/targets/linear/linear.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist/todoist.ts';
import {
  startAsanaPlaces,
  startGithubPlaces,
  startJiraPlaces,
  startLinearPlaces,
  startTodoistPlaces,
} from '../../support/admin-standins.ts';
import { asanaSettings } from '../../support/asana-standin.ts';
import { githubSettings } from '../../support/github-standin.ts';
import { context, needsOf } from '../../support/item-vendor.ts';
import { jiraSettings } from '../../support/jira-standin.ts';
import { graphqlError, linearSettings } from '../../support/linear-standin.ts';
import { todoistSettings } from '../../support/todoist-standin.ts';
import type { VendorStandin } from '../../support/vendor-standin.ts';

/** The findings as lines. The check has to read only: every stand-in here is asked by GET, or by a query. */
async function found(vendor: VendorStandin, open: (needs: ReturnType<typeof needsOf>) => Target): Promise<string[]> {
  const target = open(needsOf(vendor));
  const findings = (await target.check?.(context())) ?? [];
  await target.close();
  await vendor.close();
  expect(vendor.complaints).toEqual([]);
  expect(
    vendor.requests.filter(({ method, body }) => method !== 'GET' && !body.startsWith('{"query":"query ')),
  ).toEqual([]);
  return findings.map(line);
}

function line({ what, status, detail, remedy }: Finding): string {
  return `${status} ${what}: ${detail}${remedy === undefined || remedy === '' ? '' : ` → ${remedy}`}`;
}

const github =
  (given: Parameters<typeof githubSettings>[0] = {}) =>
  (needs: ReturnType<typeof needsOf>) =>
    openGithub(githubSettings(given), needs);
const CLASSIC = { 'x-oauth-scopes': 'repo, gist' };

test('GitHub: a repository whose issues the token may write', async () => {
  const vendor = await startGithubPlaces({ permissions: { push: true } }, CLASSIC);
  expect(await found(vendor, github({ labels: ['lockstep'] }))).toEqual([
    'ok repository octo/shop: found, and its user may close issues',
    'ok issues: the token may read them',
    'ok permissions: the token has the scopes repo, gist',
  ]);
});

test('a check that the target asks to wait says to check again later', async () => {
  const vendor = await startGithubPlaces();
  vendor.next({ status: 429, headers: { 'retry-after': '60' }, body: { message: 'Slow down' } });
  expect(await found(vendor, github())).toEqual([
    'problem repository octo/shop: LIMITED: GitHub limits the calls of this token: Slow down → check again later',
  ]);
});

test('GitHub: a classic token that lacks the scope is named with it', async () => {
  const vendor = await startGithubPlaces(
    { private: false, permissions: { triage: true } },
    { 'x-oauth-scopes': 'gist' },
  );
  expect(await found(vendor, github({ labels: ['lockstep'] }))).toEqual([
    'ok repository octo/shop: found, and its user may close issues',
    'ok issues: the token may read them',
    'problem permissions: the token has only the scope gist → make a token with the scope public_repo',
    'problem labels: GitHub leaves out the labels of issues that a user without the role Write creates → give the user of the token the role Write, or remove labels',
  ]);
});

test.each([
  [{ full_name: 'octo/till' }, 'it was renamed to octo/till'],
  [{ archived: true }, 'it is archived'],
  [{ has_issues: false }, 'its issues are disabled'],
  [{ permissions: { pull: true } }, 'its user may only read'],
])('GitHub: a repository with %j is a problem', async (place, why) => {
  const [first] = await found(await startGithubPlaces(place), github());
  expect(first).toMatch(new RegExp(`^problem repository octo/shop: ${why}.* → `));
});

test('GitHub: a repository that is gone, a refused token, and a target without a repository', async () => {
  const [gone] = await found(await startGithubPlaces(), github({ repo: 'gone' }));
  expect(gone).toMatch(/^problem repository octo\/gone: .*HTTP 404.* → correct owner and repo/);
  const refusing = await startGithubPlaces();
  refusing.next({ status: 401, body: { message: 'Bad credentials' } });
  expect(await found(refusing, github())).toEqual([
    expect.stringMatching(/TOKEN_REFUSED: .*Bad credentials.*check this/),
  ]);
  const [any] = await found(
    await startGithubPlaces({}, CLASSIC),
    github({ owner: undefined, repo: undefined, create: false }),
  );
  expect(any).toBe('ok permissions: the token has the scopes repo, gist');
});

test('Jira: permissions, statuses and the fields of the issue type fit', async () => {
  const settings = jiraSettings({ doneStatus: 'done', columns: { Review: 'In Review', Won: 'completed' } });
  expect(await found(await startJiraPlaces(), (needs) => openJira(settings, needs))).toEqual([
    'ok token: it belongs to Lee',
    'ok project ABC: the account may move and create its issues',
    'ok statuses: the project has To Do, In Review, Done',
    'ok issue type Task: Lockstep fills in all fields that it requires',
  ]);
});

test('Jira: a permission that the account lacks is named, and nothing more is asked', async () => {
  const vendor = await startJiraPlaces({ lacks: ['TRANSITION_ISSUES'] });
  const lines = await found(vendor, (needs) => openJira(jiraSettings(), needs));
  expect(lines[1]).toBe(
    'problem project ABC: the account lacks the permission Name of TRANSITION_ISSUES → grant it in the permissions of ABC',
  );
  expect(vendor.requests).toHaveLength(2);
});

test('Jira: a removed status, a required field and an unknown issue type are named', async () => {
  const settings = jiraSettings({ doneStatus: 'Released', columns: { Review: 'QA' } });
  const lines = await found(await startJiraPlaces({ required: ['team'] }), (needs) => openJira(settings, needs));
  expect(lines.slice(2)).toEqual([
    'problem statuses: the project has no status for doneStatus: Released and columns.Review: QA (available: To Do, In Review, Done) → correct the settings, or add the status to the workflow',
    'problem issue type Task: it requires Field team, which Lockstep does not fill in → give the field a default, make it optional, or set it in fields or fields.custom',
  ]);
  const bug = await found(await startJiraPlaces(), (needs) => openJira(jiraSettings({ issueType: 'Bug' }), needs));
  expect(bug.at(-1)).toMatch(/^problem issue type Bug: .*available: Task/);
});

test('Jira: fields of the settings that were removed, or have no such value, are named, and those that fit', async () => {
  const fields = { dueDate: '{{ task.endDate }}', priority: 'Higher', custom: { 'field team': 'Sales', Weight: '3' } };
  const vendor = await startJiraPlaces({ required: ['team'], has: ['priority'] });
  const lines = await found(vendor, (needs) => openJira(jiraSettings({ fields }), needs));
  expect(lines.slice(3)).toEqual([
    'problem issue type Task: its screen for new issues has no dueDate → add it to the screen, or remove fields.dueDate',
    'ok field field team: found',
    'problem field Weight: the target has no field "Weight" (available: Field summary, Field labels, Field description, Field priority, Field team) → correct the settings, or add the field or its option there',
    'problem field priority: it has no option "Higher" (available: High) → correct the settings, or add the field or its option there',
  ]);
});

test('Asana: tags and fields of the settings that the project does not have are named', async () => {
  const fields = { labels: ['mirror', 'crm', '{{ task.kind }}'], custom: { size: 'Large', Priority: 'High' } };
  const lines = await found(await startAsanaPlaces(), (needs) => openAsana(asanaSettings({ fields }), needs));
  expect(lines.slice(2)).toEqual([
    'problem labels: the target has no label "crm" → create what is missing there, or correct fields.labels',
    'ok field size: found',
    'problem field Priority: the target has no field "Priority" (available: Size) → correct the settings, or add the field or its option there',
  ]);
});

test('Asana: the project is found, archived, or gone', async () => {
  const check = async (given: object, settings = asanaSettings()) =>
    (await found(await startAsanaPlaces(given), (needs) => openAsana(settings, needs)))[1];
  expect(await check({})).toBe('ok project 555: found: Shop');
  expect(await check({ archived: true })).toMatch(/^problem project 555: it is archived/);
  expect(await check({}, asanaSettings({ project: '556' }))).toMatch(
    /^problem project 556: .*Unknown object.* → correct/,
  );
});

test('Linear: the team and its states, and answers with errors in a 200', async () => {
  const open = (given: object) => (needs: ReturnType<typeof needsOf>) => openLinear(linearSettings(given), needs);
  expect(await found(await startLinearPlaces(), open({ columns: { Won: 'Done' } }))).toEqual([
    'ok token: it belongs to lee',
    'ok team ENG: found',
    'ok states: the team has Todo, Done',
  ]);
  const lines = await found(await startLinearPlaces(), open({ columns: { Won: 'Shipped' } }));
  expect(lines.at(-1)).toMatch(
    /^problem states: the team has no status for columns.Won: Shipped \(available: Todo, Done/,
  );
  const labelled = await found(await startLinearPlaces(), open({ fields: { labels: ['crm', 'sales'] } }));
  expect(labelled.at(-1)).toMatch(/^problem labels: the target has no label "sales" → create/);
  expect((await found(await startLinearPlaces(), open({ team: 'OPS' }))).at(-1)).toMatch(
    /^problem team OPS: .*sees no team OPS → correct the team/,
  );
  const refusing = await startLinearPlaces();
  refusing.next(graphqlError('Authentication required', 'AUTHENTICATION_ERROR', 'authentication error'));
  expect(await found(refusing, open({}))).toEqual([
    expect.stringMatching(/^problem token: TOKEN_REFUSED: .*Authentication/),
  ]);
});

test('Todoist: the project is found, archived, deleted or gone', async () => {
  const check = async (given: object, project = '6Jf8') =>
    (await found(await startTodoistPlaces(given), (needs) => openTodoist(todoistSettings({ project }), needs)))[1];
  expect(await check({})).toBe('ok project 6Jf8: found: Shop');
  expect(await check({ is_archived: true })).toMatch(
    /^problem project 6Jf8: .*is archived: unarchive it → name another/,
  );
  expect(await check({ is_deleted: true })).toMatch(/^problem project 6Jf8: .*is deleted → name another/);
  expect(await check({}, '6Xx')).toMatch(/^problem project 6Xx: .*HTTP 404/);
});

test.each<[string, () => Promise<VendorStandin>, (needs: ReturnType<typeof needsOf>) => Target]>([
  ['GitHub', startGithubPlaces, github()],
  ['Jira', startJiraPlaces, (needs) => openJira(jiraSettings(), needs)],
  ['Asana', startAsanaPlaces, (needs) => openAsana(asanaSettings(), needs)],
  ['Linear', startLinearPlaces, (needs) => openLinear(linearSettings(), needs)],
  ['Todoist', startTodoistPlaces, (needs) => openTodoist(todoistSettings({ project: '6Jf8' }), needs)],
])('%s: whichever call is refused, with whatever status, is a problem with its reason', async (_, start, open) => {
  const vendor = await start();
  const target = open(needsOf(vendor));
  await target.check?.(context());
  const calls = vendor.requests.length;
  for (const status of [400, 401, 403, 404, 422, 429, 500]) {
    for (let failing = 0; failing < calls; failing++) {
      let count = 0;
      vendor.next({ status, body: {} }, () => count++ === failing);
      const findings = (await target.check?.(context())) ?? [];
      expect(findings.filter((finding) => finding.status === 'problem')).toEqual([
        expect.objectContaining({ detail: expect.stringMatching(/./) }),
      ]);
    }
  }
  await target.close();
  await vendor.close();
  expect(vendor.complaints).toEqual([]);
});
