/** Which items a text names, for each type of target. */
import { expect, test } from 'vitest';
import {
  ASANA,
  githubNaming,
  type ItemNaming,
  jiraNaming,
  linearNaming,
  serviceNaming,
  TODOIST,
} from '../../../src/mirror/targets/items/item-naming.ts';

const API = 'https://api.github.com';
const GITHUB = githubNaming({ url: API, owner: undefined, repo: undefined });
const GITHUB_SHOP = githubNaming({ url: API, owner: 'octo', repo: 'shop' });
const ACME = 'https://acme.atlassian.net';
const JIRA = jiraNaming({ url: ACME, project: 'ABC' });
const JIRA_API = 'https://api.atlassian.com/ex/jira/1a2b';
const LINEAR = linearNaming({ team: 'ENG' });
const BRANCH = serviceNaming({ account: 'branch' });

test.each<[string, ItemNaming, readonly string[]]>([
  ['see https://github.com/octo/shop/issues/12#issuecomment-3, please', GITHUB, ['octo/shop#12']],
  ['<a href="https://github.com/octo/shop/issues/12">octo/shop#12</a>', GITHUB, ['octo/shop#12']],
  ['https://github.com/octo/shop/pull/12 https://gitlab.com/octo/shop/issues/12', GITHUB, []],
  ['https://evil.example/github.com/octo/shop/issues/12', GITHUB, []],
  ['octo/shop#12 and (a.b/c_d#3)', GITHUB, ['octo/shop#12']],
  ['Octo/c_D.e#3.', GITHUB, ['octo/c_d.e#3']],
  ['#12, GH: 13, GH:#14', GITHUB, []],
  ['#12, GH: 13, GH:#14', GITHUB_SHOP, ['octo/shop#12', 'octo/shop#13', 'octo/shop#14']],
  ['GH: octo/till#9', GITHUB_SHOP, ['octo/till#9']],
  ['other/shop#9 https://github.com/other/shop/issues/9', GITHUB_SHOP, []],
  ['it&#39;s page#4 a#5 ##6 #1234567890 #12ab', GITHUB_SHOP, []],
  ['octo/..#9 octo/.#9', GITHUB_SHOP, []],
  ['JIRA: XY-7, jira: no', JIRA, ['XY-7']],
  ['ABC-12 and (ABC-13), not XABC-1 ABC-12-3 XY-9', JIRA, ['ABC-12', 'ABC-13']],
  ['ABC-12', jiraNaming({ url: ACME }), []],
  [`${ACME}/browse/XY-9?focused=1`, JIRA, ['XY-9']],
  [`${ACME}/jira/software/projects/XY/boards/1?selectedIssue=XY-9`, JIRA, ['XY-9']],
  [`${ACME}/issues/XY-9?jql=x ${ACME}/issues/?jql=x`, JIRA, ['XY-9']],
  [`${ACME}/jira/software/c/projects/XY/issues/XY-9`, JIRA, ['XY-9']],
  [`${ACME}/jira/servicedesk/projects/XY/queues/custom/7/XY-9`, JIRA, ['XY-9']],
  [`${ACME}/jira/core/projects/XY/list?filter=a&selectedIssue=XY-9`, JIRA, ['XY-9']],
  [`${ACME}/browse/xy-9`, JIRA, ['XY-9']],
  [`${ACME}/wiki/spaces/A/pages/1/XY-9 ${ACME}.evil.example/browse/XY-9`, JIRA, []],
  [`${ACME}/browse/XY-9`, jiraNaming({ url: JIRA_API, project: 'ABC' }), []],
  [`${ACME}/browse/XY-9`, jiraNaming({ url: JIRA_API, site: ACME, project: 'ABC' }), ['XY-9']],
  ['https://other.atlassian.net/browse/ABC-9 https://other.atlassian.net/x?k=ABC-9', JIRA, []],
  [`<a href="${ACME}/browse/ABC-9">ABC-9</a>`, JIRA, ['ABC-9']],
  ['https://linear.app/acme/issue/ENG-12/call-the-printer and ENG-13', LINEAR, ['ENG-12']],
  ['LINEAR: ENG-12, LINEAR:OPS-1', LINEAR, ['ENG-12', 'OPS-1']],
  ['https://linear.app/acme/issue/eng-12/call-the-printer and linear: ops-2', LINEAR, ['ENG-12', 'OPS-2']],
  ['https://linear.example/acme/issue/ENG-12', LINEAR, []],
  ['https://app.todoist.com/app/task/call-the-printer-6X7rM8997g3RQmvh', TODOIST, ['6X7rM8997g3RQmvh']],
  ['https://app.todoist.com/app/task/6X7rM8997g3RQmvh.', TODOIST, ['6X7rM8997g3RQmvh']],
  ['https://todoist.com/showTask?id=2995104339', TODOIST, ['2995104339']],
  ['TODOIST: 6X7rM8997g3RQmvh todoist.com/app/task/x', TODOIST, ['6X7rM8997g3RQmvh']],
  ['https://todoist.example/app/task/6X7rM8997g3RQmvh', TODOIST, []],
  ['https://app.asana.com/0/123/456 and https://app.asana.com/0/123/456/f', ASANA, ['456']],
  ['https://app.asana.com/0/0/789', ASANA, ['789']],
  ['https://app.asana.com/1/11/project/22/task/33?focus=true', ASANA, ['33']],
  ['https://app.asana.com/1/11/task/34, ASANA: 35', ASANA, ['34', '35']],
  ['https://app.asana.com/0/inbox/11/45/99 https://app.asana.com/0/home/11/46', ASANA, ['45', '46']],
  ['https://app.asana.com/0/search/11/47 https://app.asana.com/0/my_tasks/11/48/f', ASANA, ['47', '48']],
  ['https://app.asana.com/1/11/home/task/49 https://app.asana.com/1/11/inbox/22/task/50', ASANA, ['49', '50']],
  ['https://app.asana.com/0/123/list https://asana.example/0/1/2 456', ASANA, []],
  ['see branch#12 and branch#13, branch#12.', BRANCH, ['12', '13']],
  ['Task branch#a1b2-c3', BRANCH, ['a1b2-c3']],
  ['my-branch#12 other#12 #12 x/branch#12 branch#12/3', BRANCH, []],
])('the text %j names items', (text, { itemsIn }, expected) => {
  expect(itemsIn(text)).toEqual(expected);
});

test.each([
  ['https://api.github.com', undefined, 'github.com'],
  ['https://ghe.example.com/api/v3', undefined, 'ghe.example.com'],
  ['https://api.acme.ghe.com', undefined, 'acme.ghe.com'],
  ['https://proxy.example.com/github', 'https://github.com', 'github.com'],
])('the pages of the GitHub API at %s, with the site %s, are at %s', (url, site, host) => {
  const { itemsIn } = githubNaming({ url, site, owner: undefined, repo: undefined });
  expect(itemsIn(`https://${host}/octo/shop/issues/12`)).toEqual(['octo/shop#12']);
});
