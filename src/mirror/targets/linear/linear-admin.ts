/** The check and the webhooks of a Linear target: packages/sdk/src/schema.graphql in linear/linear. */
import { z } from 'zod';
import type { Finding, OutsideHook } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { failedCheck, fine, problem, statusFinding } from '../findings.ts';
import { type NamedValues, namedFindings } from '../items/custom-fields.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import type { Asked } from '../items/item-target.ts';
import type { VendorAdmin } from '../items/vendor-admin.ts';
import { ask, findTeam, query, STATES } from './linear-graphql.ts';

const hook = z
  .object({
    id: z.string(),
    url: z.string().nullable(),
    enabled: z.boolean(),
    resourceTypes: z.array(z.string()),
  })
  .transform(({ id, url, enabled, resourceTypes }): OutsideHook => {
    const off = enabled ? undefined : 'it is disabled';
    return { id, url: url ?? '', problem: resourceTypes.includes(ISSUE) ? off : 'it does not report issues' };
  });
const ISSUE = 'Issue';
const HOOK = 'id url enabled resourceTypes';
const changed = z.object({ success: z.literal(true) });

const VIEWER = query('query Viewer { viewer { displayName } }', { viewer: z.object({ displayName: z.string() }) });
const HOOKS = query(`query Webhooks { webhooks(first: 250) { nodes { ${HOOK} } } }`, {
  webhooks: z.object({ nodes: z.array(hook) }),
});
const CREATE_HOOK = query(
  `mutation CreateWebhook($input: WebhookCreateInput!) { webhookCreate(input: $input) { success } }`,
  { webhookCreate: changed },
);
const UPDATE_HOOK = query(
  `mutation UpdateWebhook($id: String!, $input: WebhookUpdateInput!) { webhookUpdate(id: $id, input: $input) { success } }`,
  { webhookUpdate: changed },
);
const DELETE_HOOK = query('mutation DeleteWebhook($id: String!) { webhookDelete(id: $id) { success } }', {
  webhookDelete: changed,
});

export function linearAdmin(settings: SettingsOf<'linear'>, named: NamedValues): VendorAdmin {
  const { team } = settings;
  return {
    async check(calls) {
      const viewer = await ask(calls, VIEWER);
      if (viewer.status !== 'ok') return [failedCheck('token', viewer, 'correct the url of this target')];
      const token = fine('token', `it belongs to ${viewer.value.viewer.displayName}`);
      return team === undefined ? [token] : [token, ...(await teamFindings(calls, team, settings, named))];
    },
    hooks: {
      missing: 'webhooks need a token of an administrator of the workspace (OAuth: the scope admin)',
      list: (calls) => mapAsked(ask(calls, HOOKS), ({ webhooks }) => webhooks.nodes),
      async put(calls, url, existing, secret) {
        const common = { url, secret, enabled: true, resourceTypes: [ISSUE], label: 'Lockstep' };
        if (existing !== undefined) return ask(calls, UPDATE_HOOK, { id: existing.id, input: common });
        const of = await scopeOf(calls, team);
        return of.status === 'ok' ? ask(calls, CREATE_HOOK, { input: { ...common, ...of.value } }) : of;
      },
      remove: (calls, { id }) => ask(calls, DELETE_HOOK, { id }),
    },
  };
}

/** Links may lead to issues of any team; without a team, to those of all public teams. */
async function scopeOf(calls: Calls, team: string | undefined): Promise<Asked<object>> {
  if (team === undefined) return { status: 'ok', value: { allPublicTeams: true } };
  return mapAsked(findTeam(calls, team), (teamId) => ({ teamId }));
}

async function teamFindings(
  calls: Calls,
  team: string,
  { columns, fields }: SettingsOf<'linear'>,
  named: NamedValues,
): Promise<readonly Finding[]> {
  const what = `team ${team}`;
  const remedy = 'correct the team, or give the user of the token access to it';
  const found = await findTeam(calls, team);
  if (found.status !== 'ok') return [failedCheck(what, found, remedy)];
  const asked = await ask(calls, STATES, { id: found.value });
  if (asked.status !== 'ok') return [failedCheck(what, asked, remedy)];
  const states = asked.value.team.states.nodes;
  const known = states.map(({ name }) => name);
  const fix = 'correct the settings, or add the state to the team';
  const hasDone = states.some(({ type }) => type === 'completed');
  return [
    fine(what, 'found'),
    statusFinding({ what: 'states', place: 'team', known, remedy: fix }, columns),
    ...(hasDone ? [] : [problem('states', 'the team has no state of the type completed', 'add one to the team')]),
    ...(await namedFindings(named, fields, calls)),
  ];
}
