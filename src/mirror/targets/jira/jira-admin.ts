/**
 * The check of a Jira target, and what to enter for its webhook: the API for webhooks that are signed and do not expire needs an
 * administrator. developer.atlassian.com/cloud/jira/platform/rest/v3 (myself, permissions, projects, issue create metadata) and
 * …/platform/webhooks.
 */
import { z } from 'zod';
import type { Finding } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { ItemField } from '../../../settings/target-items.ts';
import { failedCheck, fine, problem, statusFinding } from '../findings.ts';
import { customFindings, fieldNamed } from '../items/custom-fields.ts';
import type { Calls } from '../items/item-calls.ts';
import type { VendorAdmin } from '../items/vendor-admin.ts';
import { readJiraFields } from './jira-fields.ts';

type Settings = SettingsOf<'jira'>;

const myself = z.object({ displayName: z.string().optional(), active: z.boolean().optional() });
const permissions = z.object({
  permissions: z.record(z.string(), z.object({ name: z.string().optional(), havePermission: z.boolean().optional() })),
});
const statuses = z.array(z.object({ name: z.string(), statuses: z.array(z.object({ name: z.string() })) }));
/** The names in Jira of the fields that Lockstep always writes. */
const ALWAYS = ['project', 'issuetype', 'summary', 'labels'];
/** The others by the names in the settings. */
const NAMED: readonly (readonly [setting: ItemField, id: string])[] = [
  ['description', 'description'],
  ['dueDate', 'duedate'],
  ['assignee', 'assignee'],
  ['priority', 'priority'],
];
/** Jira fills it in: the account of the token. */
const REPORTER = 'reporter';

export function jiraAdmin(settings: Settings): VendorAdmin {
  const { project, create } = settings;
  return {
    async check(calls) {
      const me = await calls.ask({ method: 'GET', path: '/rest/api/3/myself' }, myself);
      if (me.status !== 'ok') return [failedCheck('token', me, 'correct the url of this target')];
      const { displayName = 'an account', active } = me.value;
      const token =
        active === false
          ? problem('token', `its account, ${displayName}, is not active`, 'activate the account, or use another')
          : fine('token', `it belongs to ${displayName}`);
      if (project === undefined) return [token];
      const rights = await rightsIn(calls, project, create);
      if (rights.some(({ status }) => status === 'problem')) return [token, ...rights];
      return [
        token,
        ...rights,
        ...(await statusFindings(calls, project, settings)),
        ...(create || Object.keys(settings.fields).length > 0 ? await fieldFindings(calls, project, settings) : []),
      ];
    },
    hooks: { byHand: (url) => handwork(url, settings) },
  };
}

async function rightsIn(calls: Calls, project: string, create: boolean): Promise<readonly Finding[]> {
  const wanted = ['BROWSE_PROJECTS', 'TRANSITION_ISSUES', ...(create ? ['CREATE_ISSUES'] : [])];
  const query = new URLSearchParams({ projectKey: project, permissions: wanted.join(',') });
  const what = `project ${project}`;
  const asked = await calls.ask({ method: 'GET', path: `/rest/api/3/mypermissions?${query}` }, permissions);
  if (asked.status !== 'ok') return [failedCheck(what, asked, 'correct the project, or let the account see it')];
  const missing = wanted.filter((key) => asked.value.permissions[key]?.havePermission !== true);
  if (missing.length === 0) return [fine(what, `the account may ${create ? 'move and create' : 'move'} its issues`)];
  const names = missing.map((key) => asked.value.permissions[key]?.name ?? key).join(', ');
  const [words, them] = missing.length === 1 ? ['permission', 'it'] : ['permissions', 'them'];
  return [problem(what, `the account lacks the ${words} ${names}`, `grant ${them} in the permissions of ${project}`)];
}

async function statusFindings(calls: Calls, project: string, settings: Settings): Promise<readonly Finding[]> {
  const { doneStatus, openStatus, columns } = settings;
  const asked = await calls.ask({ method: 'GET', path: `/rest/api/3/project/${project}/statuses` }, statuses);
  if (asked.status !== 'ok') return [failedCheck('statuses', asked, 'correct the project')];
  const known = [...new Set(asked.value.flatMap((type) => type.statuses.map(({ name }) => name)))];
  const remedy = 'correct the settings, or add the status to the workflow';
  return [statusFinding({ what: 'statuses', place: 'project', known, remedy }, columns, { doneStatus, openStatus })];
}

/** What the metadata of the issue type says about the fields that are written. */
async function fieldFindings(
  calls: Calls,
  project: string,
  { issueType, create, fields }: Settings,
): Promise<readonly Finding[]> {
  const what = `issue type ${issueType}`;
  const asked = await readJiraFields(calls, project, issueType);
  if (asked.status !== 'ok') return [failedCheck(what, asked, 'correct the project or issueType')];
  const known = asked.value;
  const { custom = {} } = fields;
  const named = NAMED.filter(([setting]) => setting === 'description' || fields[setting] !== undefined);
  const written = [
    ...ALWAYS,
    ...named.map(([, id]) => id),
    ...Object.keys(custom).flatMap((name) => fieldNamed(known, name)?.id ?? []),
  ];
  const findings = known
    .filter(({ id, isNeeded }) => create && isNeeded && !written.includes(id) && id !== REPORTER)
    .map(({ name }) => {
      const remedy = 'give the field a default, make it optional, or set it in fields or fields.custom';
      return problem(what, `it requires ${name}, which Lockstep does not fill in`, remedy);
    });
  if (create && !known.some(({ id }) => id === 'labels')) {
    const detail = 'its screen for new issues has no labels, by which Lockstep recognises an issue that it created';
    findings.push(problem(what, detail, 'add the field Labels to the screen'));
  }
  for (const [setting, id] of named) {
    if (fields[setting] === undefined || known.some((field) => field.id === id)) continue;
    const remedy = `add it to the screen, or remove fields.${setting}`;
    findings.push(problem(what, `its screen for new issues has no ${setting}`, remedy));
  }
  const priority = fieldNamed(known, 'priority');
  const all =
    fields.priority === undefined || priority === undefined ? custom : { ...custom, priority: fields.priority };
  findings.push(...customFindings(all, known));
  const isFine = findings.every(({ status }) => status === 'ok');
  return isFine ? [fine(what, 'Lockstep fills in all fields that it requires'), ...findings] : findings;
}

function handwork(url: string, { name, project }: Settings): readonly string[] {
  return [
    'In Jira, as an administrator: Settings, System, WebHooks, Create a WebHook.',
    `  URL: ${url}`,
    `  Secret: the hookSecret of targets.${name}`,
    ...(project === undefined ? [] : [`  Issue related events, JQL: project = ${project}`]),
    '  Events: Issue: updated',
    '',
    'Or, as an administrator of the project, an automation rule: trigger "Issue transitioned", action "Send web request".',
    `  URL: ${url}`,
    '  Method: POST',
    `  Header: x-lockstep-secret, with the hookSecret of targets.${name} as its hidden value`,
    '  Body, as custom data:',
    ...AUTOMATION_BODY.split('\n').map((line) => `    ${line}`),
  ];
}

const AUTOMATION_BODY = `{
  "webhookEvent": "jira:issue_updated",
  "timestamp": {{now.toMillis}},
  "issue": {
    "key": "{{issue.key}}",
    "fields": { "status": { "name": "{{issue.status.name}}", "statusCategory": { "key": "{{issue.status.statusCategory.key}}" } } }
  }
}`;
