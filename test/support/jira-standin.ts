/** Jira Cloud with one workflow, as far as the target uses it: developer.atlassian.com/cloud/jira/platform/rest/v3. */
import { z } from 'zod';
import { openJira } from '../../src/mirror/targets/jira/jira.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import type { Reply } from './http-server.ts';
import {
  type DetailedVendor,
  HOOK_SECRET,
  NO_DETAILS,
  secretRef,
  TOKEN,
  USUAL,
  type VendorComment,
} from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { rule, startVendor } from './vendor-standin.ts';

export interface JiraIssue {
  key: string;
  /** Before it moved to another project. */
  formerKey?: string;
  status: string;
  updated?: Date;
  /** The fields of its last transition. */
  readonly sent?: object;
  fields: {
    readonly labels: readonly string[];
    readonly summary?: string;
    readonly description?: unknown;
    readonly duedate?: string | null;
    readonly assignee?: { readonly accountId: string } | null;
    readonly priority?: { readonly name: string } | null;
    readonly customfield_10010?: unknown;
  };
}

export interface JiraVendor extends DetailedVendor {
  readonly issues: JiraIssue[];
  /** Its statuses in their order, each with its category; a transition leads to each. */
  readonly statuses: Map<string, string>;
  /** Fields on the screen of each transition to a done status, and whether they are required. */
  readonly doneFields: Map<string, boolean>;
  /** The search does not show what was created. */
  isSearchBehind: boolean;
}

export function jiraSettings(given: Partial<SettingsOf<'jira'>> = {}): SettingsOf<'jira'> {
  return {
    ...USUAL,
    type: 'jira',
    url: 'https://acme.atlassian.net',
    email: 'bot@example.com',
    token: secretRef(TOKEN),
    project: 'ABC',
    doneStatus: undefined,
    doneFields: {},
    openStatus: undefined,
    issueType: 'Task',
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 5, perMs: 1000, burst: 5, concurrency: 4 },
    ...NO_DETAILS,
    ...given,
  };
}

export async function startJira(): Promise<JiraVendor> {
  const issues: JiraIssue[] = [];
  const comments: VendorComment[] = [];
  const statuses = new Map([
    ['Backlog', 'new'],
    ['In Progress', 'indeterminate'],
    ["Won't do", 'done'],
    ['Released', 'done'],
    ['Done', 'done'],
  ]);
  const doneFields = new Map<string, boolean>();
  const missing = {
    status: 404,
    body: { errorMessages: ['Issue does not exist or you do not have permission to see it.'] },
  };
  const add = (status: string, fields: JiraIssue['fields']) => {
    const issue: JiraIssue = { key: `ABC-${issues.length + 1}`, status, fields };
    issues.push(issue);
    return issue;
  };
  const shown = ({ key, status }: JiraIssue) => ({ key, fields: { status: statusOf(status) } });
  const changedAt = ({ updated }: JiraIssue) => updated?.getTime() ?? Date.parse('2026-02-28T12:00:00Z');
  const shownWhole = (issue: JiraIssue) => {
    const { key, fields } = issue;
    const id = String(10_000 + issues.indexOf(issue));
    // In a time zone of an hour and a half.
    const updated = new Date(changedAt(issue) + 90 * 60_000).toISOString().replace('Z', '+0130');
    const times = { created: '2026-02-01T13:00:00.000+0100', updated };
    return { id, key, fields: { summary: 'Old', ...fields, ...times } };
  };
  const issueAt = (key: string | undefined) => issues.find((issue) => issue.key === key || issue.formerKey === key);
  const statusOf = (name: string) => ({ name, statusCategory: { key: statuses.get(name) } });
  const transitionTo = (name: string) => {
    const fields = statuses.get(name) === 'done' ? screenWith(doneFields) : {};
    return { id: `to-${name}`, name: `Go ${name}`, to: statusOf(name), fields };
  };
  const transitions = () => [...statuses.keys()].map(transitionTo);
  const basic = Buffer.from(`bot@example.com:${TOKEN}`).toString('base64');

  const vendor = await startVendor(
    openApiContract('jira'),
    { authorization: new RegExp(`^Basic ${basic}$`), accept: /^application\/json$/ },
    [
      rule('GET', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)$/, (_, [, key]) => {
        const issue = issueAt(key);
        return issue === undefined ? missing : { body: shown(issue) };
      }),
      rule('GET', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/transitions$/, () => ({
        body: { transitions: transitions() },
      })),
      rule('POST', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/transitions$/, ({ body }, [, key]) => {
        const issue = issueAt(key);
        if (issue === undefined) return missing;
        const { transition, fields = {} } = JSON.parse(body);
        const chosen = transitions().find(({ id }) => id === transition.id);
        if (chosen === undefined) return refusal({ errorMessages: ['It is not valid for the current state.'] });
        const foreign = Object.keys(fields).find((field) => !(field in chosen.fields));
        if (foreign !== undefined) return refusal({ errors: { [foreign]: 'It is not on the appropriate screen.' } });
        const lacking = Object.values(chosen.fields).find(({ key, required }) => required && !(key in fields));
        if (lacking !== undefined) return refusal({ errors: { [lacking.key]: 'It is required.' } });
        Object.assign(issue, { status: chosen.to.name, sent: fields });
        return { status: 204 };
      }),
      rule('POST', /^\/rest\/api\/3\/issue\/bulkfetch$/, ({ body }) => {
        const keys: readonly string[] = JSON.parse(body).issueIdsOrKeys;
        if (keys.length > 100) return refusal({ errorMessages: ['At most 100 issues.'] });
        return { body: { issues: issues.filter(({ key }) => keys.includes(key)).map(shown), issueErrors: [] } };
      }),
      rule('POST', /^\/rest\/api\/3\/search\/jql$/, ({ body }) => {
        const { jql, nextPageToken, maxResults } = JSON.parse(body);
        const minutes = CHANGED.exec(jql)?.[1];
        if (minutes !== undefined) {
          const since = (vendor.serverTime ?? new Date()).getTime() - Number(minutes) * 60_000;
          const open = issues.filter((issue) => statuses.get(issue.status) !== 'done' && changedAt(issue) >= since);
          const numberOf = ({ key }: JiraIssue) => Number(key.split('-')[1]);
          open.sort((a, b) => changedAt(a) - changedAt(b) || numberOf(a) - numberOf(b));
          // A place in the list of this search only: after the issue of this time and number, even if that issue has moved.
          const [of, time, number] = String(nextPageToken ?? `${jql}/0/0`).split('/');
          if (of !== jql) return refusal({ errorMessages: ['The token belongs to another search.'] });
          const isAfter = (issue: JiraIssue) =>
            changedAt(issue) > Number(time) || (changedAt(issue) === Number(time) && numberOf(issue) > Number(number));
          const rest = open.filter(isAfter);
          const page = rest.slice(0, maxResults);
          const last = page.at(-1);
          const token = last && rest.length > page.length ? `${jql}/${changedAt(last)}/${numberOf(last)}` : undefined;
          return { body: { issues: page.map(shownWhole), isLast: token === undefined, nextPageToken: token } };
        }
        const label = /^project = "ABC" AND labels = "(lockstep-[\da-f]{12})"$/.exec(jql)?.[1];
        const found = issues.filter(({ fields }) => label !== undefined && fields.labels.includes(label));
        if (harness.isSearchBehind) return { body: { issues: [], isLast: true } };
        return { body: { issues: found.map(shown), isLast: true } };
      }),
      rule('POST', /^\/rest\/api\/3\/issue$/, ({ body }) => {
        const { project, issuetype, ...fields } = JSON.parse(body).fields;
        if (project.key !== 'ABC' || issuetype.name !== 'Task')
          return { status: 400, body: { errors: { project: '?' } } };
        const { key } = add('Backlog', fields);
        return { status: 201, body: { id: '10001', key } };
      }),
      rule('GET', /^\/rest\/api\/3\/issue\/createmeta\/ABC\/issuetypes$/, () => ({
        body: { issueTypes: [{ id: '7', name: 'Task' }], maxResults: 200, startAt: 0, total: 1 },
      })),
      rule('GET', /^\/rest\/api\/3\/issue\/createmeta\/ABC\/issuetypes\/7$/, () => ({
        body: { fields: [SIZE_FIELD] },
      })),
      rule('PUT', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)$/, ({ body }, [, key]) => {
        const issue = issueAt(key);
        if (issue === undefined) return missing;
        const { fields = {}, update = {} } = JSON.parse(body);
        const both = Object.keys(fields).find((field) => field in update);
        if (both !== undefined) return refusal({ errors: { [both]: 'It is in fields and in update.' } });
        const changes: readonly { add?: string; remove?: string }[] = update.labels ?? [];
        const labels = issue.fields.labels
          .filter((label) => !changes.some(({ remove }) => remove === label))
          .concat(changes.flatMap(({ add }) => add ?? []));
        issue.fields = { ...issue.fields, ...fields, labels };
        return { status: 204 };
      }),
      rule('GET', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/comment$/, ({ query }, [, key]) => {
        const from = Number(query.get('startAt'));
        const own = comments.filter(({ itemId }) => itemId === key).map(shownComment);
        const shown = own.slice(from, from + Math.min(COMMENTS_ON_A_PAGE, Number(query.get('maxResults'))));
        return { body: { comments: shown, startAt: from, total: own.length } };
      }),
      rule('POST', /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/comment$/, ({ body }, [, itemId = '']) => {
        if (issueAt(itemId) === undefined) return missing;
        const comment = { id: String(comments.length + 1), itemId, text: textOf(JSON.parse(body).body) };
        comments.push(comment);
        return { status: 201, body: shownComment(comment) };
      }),
    ],
  );
  const harness: JiraVendor = {
    vendor,
    issues,
    statuses,
    doneFields,
    isSearchBehind: false,
    openTarget: (needs, given) => openJira(jiraSettings(given), needs),
    put: (isCompleted, labels = []) => add(isCompleted ? 'Done' : 'In Progress', { labels }).key,
    isCompleted: (itemId) => statuses.get(issueAt(itemId)?.status ?? '') === 'done',
    count: () => issues.length,
    isWrite: ({ method, path }) => method === 'POST' && path.endsWith('/transitions'),
    isCreation: ({ method, path }) => method === 'POST' && path === '/rest/api/3/issue',
    field(itemId, name) {
      const { summary, description, duedate, labels, assignee, priority, customfield_10010 } =
        issueAt(itemId)?.fields ?? {};
      const fields: Readonly<Record<string, unknown>> = {
        title: summary,
        description: description && textOf(description),
        dueDate: duedate,
        labels,
        assignee: assignee?.accountId,
        priority: priority?.name,
        custom: customfield_10010,
      };
      return fields[name];
    },
    comments,
    isComment: ({ method, path }) => method === 'POST' && path.endsWith('/comment'),
    isUpdate: ({ method }) => method === 'PUT',
    touch(itemId, at) {
      const issue = issueAt(itemId);
      if (issue) issue.updated = at;
    },
    missing,
  };
  return harness;
}

const CHANGED = /^project = "ABC" AND statusCategory != Done AND updated >= "-(\d+)m" ORDER BY updated ASC, key ASC$/;

/** Fewer than the target asks for. */
const COMMENTS_ON_A_PAGE = 2;

/** A field of the project, with the options of its list. */
const SIZE_FIELD = {
  fieldId: 'customfield_10010',
  key: 'customfield_10010',
  name: 'Size',
  required: false,
  operations: ['set'],
  schema: { type: 'option', custom: 'com.atlassian.jira.plugin.system.customfieldtypes:select', customId: 10010 },
  allowedValues: ['Small', 'Large'].map((value) => ({ id: `option-${value}`, value })),
};

const document = z.object({
  content: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })),
});

/** The paragraphs of a document, one on a line. */
function textOf(given: unknown): string {
  return document
    .parse(given)
    .content.map(({ content }) => content.map(({ text }) => text).join(''))
    .join('\n');
}

function shownComment({ id, text }: VendorComment) {
  const content = text.split('\n').map((line) => ({ type: 'paragraph', content: [{ type: 'text', text: line }] }));
  return { id, body: { type: 'doc', version: 1, content } };
}

function refusal(body: object): Reply {
  return { status: 400, body: { errorMessages: [], errors: {}, ...body } };
}

function screenWith(fields: ReadonlyMap<string, boolean>) {
  const described = [...fields].map(([key, required]) => {
    return [key, { key, name: key, required, operations: ['set'], schema: { type: key, system: key } }] as const;
  });
  return Object.fromEntries(described);
}
