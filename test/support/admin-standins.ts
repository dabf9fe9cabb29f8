/** Vendors as the checks and the webhooks of their targets see them: accounts, places, permissions and hooks. */
import { graphqlSync } from 'graphql';
import { ASANA_LISTS } from './asana-standin.ts';
import type { Reply } from './http-server.ts';
import { TOKEN } from './item-vendor.ts';
import { GRAPHQL, graphqlError, SCHEMA } from './linear-standin.ts';
import { shownProject } from './todoist-standin.ts';
import { openApiContract } from './vendor-contract.ts';
import { type Rule, rule, startVendor, type VendorStandin } from './vendor-standin.ts';

/** A hook as the vendor stores it. */
export interface StoredHook {
  readonly id: number;
  url: string;
  secret: string;
  active: boolean;
  /** The status of the answer to its last call. */
  lastCode?: number;
}

export interface AdminStandin extends VendorStandin {
  readonly hooks: StoredHook[];
}

const missing = { status: 404, body: { message: 'Not Found' } };
const at = '2026-03-01T12:00:00Z';

/** `octo/shop`. `headers`: of its answers. */
export async function startGithubPlaces(
  place: {
    full_name?: string;
    archived?: boolean;
    has_issues?: boolean;
    private?: boolean;
    permissions?: Record<string, boolean>;
  } = {},
  headers: Record<string, string> = {},
): Promise<AdminStandin> {
  const hooks: StoredHook[] = [];
  const repository = { id: 1, name: 'shop', full_name: 'octo/shop', private: true, archived: false, has_issues: true };
  const hookAt = (id: string | undefined) => hooks.find((hook) => String(hook.id) === id);
  const shown = ({ id, url, active, lastCode = 200 }: StoredHook) => ({
    type: 'Repository',
    id,
    name: 'web',
    active,
    events: ['issues'],
    config: { url, content_type: 'json', secret: '********' },
    created_at: at,
    updated_at: at,
    url: `https://api.github.com/repos/octo/shop/hooks/${id}`,
    test_url: `https://api.github.com/repos/octo/shop/hooks/${id}/test`,
    ping_url: `https://api.github.com/repos/octo/shop/hooks/${id}/pings`,
    last_response: { code: lastCode, status: 'active', message: null },
  });
  const rules: readonly Rule[] = [
    rule('GET', /^\/rate_limit$/, () => ({ headers, body: { resources: rates(), rate: rates().core } })),
    rule('GET', /^\/repos\/octo\/shop$/, () => {
      const permissions = place.permissions && { admin: false, push: false, pull: true, ...place.permissions };
      return { headers, body: { ...repository, ...place, ...(permissions && { permissions }) } };
    }),
    rule('GET', /^\/repos\/octo\/gone$/, () => missing),
    rule('GET', /^\/repos\/octo\/shop\/issues$/, () => ({ body: [] })),
    rule('GET', /^\/repos\/octo\/shop\/hooks$/, () => ({ body: hooks.map(shown) })),
    rule('POST', /^\/repos\/octo\/shop\/hooks$/, ({ body }) => {
      const { url, secret } = JSON.parse(body).config;
      const hook = { id: hooks.length + 1, url, secret, active: true };
      hooks.push(hook);
      return { status: 201, body: shown(hook) };
    }),
    rule('PATCH', /^\/repos\/octo\/shop\/hooks\/(\d+)$/, ({ body }, [, id]) => {
      const hook = hookAt(id);
      if (hook === undefined) return missing;
      const { active, config } = JSON.parse(body);
      Object.assign(hook, { active, url: config.url, secret: config.secret, lastCode: 200 });
      return { body: shown(hook) };
    }),
    rule('DELETE', /^\/repos\/octo\/shop\/hooks\/(\d+)$/, (_, [, id]) => removed(hooks, id, { status: 204 }, missing)),
  ];
  const wanted = { authorization: new RegExp(`^Bearer ${TOKEN}$`), accept: /^application\/vnd\.github\+json$/ };
  return Object.assign(await startVendor(openApiContract('github'), wanted, rules), { hooks });
}

function rates() {
  const core = { limit: 5000, used: 1, remaining: 4999, reset: 1_772_366_400 };
  return { core, search: core };
}

/** The project ABC. `lacks`: permissions that the account does not have. */
export async function startJiraPlaces({
  lacks = [] as readonly string[],
  required = [] as readonly string[],
  has = [] as readonly string[],
} = {}) {
  const statuses = ['To Do', 'In Review', 'Done'].map((name, index) => ({
    id: String(index),
    name,
    self: 'https://x',
  }));
  const field = (key: string, isRequired = false) => ({
    required: isRequired,
    name: `Field ${key}`,
    key,
    fieldId: key,
    hasDefaultValue: false,
    operations: ['set'],
    schema: { type: key === 'priority' ? 'priority' : 'string' },
    ...(key === 'priority' && { allowedValues: [{ id: '1', name: 'High' }] }),
  });
  const rules: readonly Rule[] = [
    rule('GET', /^\/rest\/api\/3\/myself$/, () => ({ body: { accountId: '1', displayName: 'Lee', active: true } })),
    rule('GET', /^\/rest\/api\/3\/mypermissions$/, ({ query }) => {
      const asked = query.get('permissions')?.split(',') ?? [];
      const given = asked.map((key) => [key, { key, name: `Name of ${key}`, havePermission: !lacks.includes(key) }]);
      return { body: { permissions: Object.fromEntries(given) } };
    }),
    rule('GET', /^\/rest\/api\/3\/project\/ABC\/statuses$/, () => ({
      body: [{ id: '1', name: 'Task', self: 'https://x', subtask: false, statuses }],
    })),
    rule('GET', /^\/rest\/api\/3\/issue\/createmeta\/ABC\/issuetypes$/, () => ({
      body: { issueTypes: [{ id: '7', name: 'Task' }], maxResults: 50, startAt: 0, total: 1 },
    })),
    rule('GET', /^\/rest\/api\/3\/issue\/createmeta\/ABC\/issuetypes\/7$/, () => ({
      body: {
        fields: [
          field('summary', true),
          field('labels'),
          field('description'),
          ...has.map((key) => field(key)),
          ...required.map((key) => field(key, true)),
        ],
      },
    })),
  ];
  const basic = Buffer.from(`bot@example.com:${TOKEN}`).toString('base64');
  return startVendor(openApiContract('jira'), { authorization: new RegExp(`^Basic ${basic}$`) }, rules);
}

/** The project 555. Asana calls the address of a new hook at once, and makes it only if the secret comes back. */
export async function startAsanaPlaces({ archived = false } = {}): Promise<AdminStandin> {
  let made = 0;
  const hooks: StoredHook[] = [];
  const unknown = { status: 404, body: { errors: [{ message: 'project: Unknown object' }] } };
  const shown = ({ id, url, active, lastCode }: StoredHook) => ({
    gid: String(id),
    target: url,
    active,
    last_success_at: at,
    ...(lastCode !== undefined && { last_failure_at: '2026-03-02T12:00:00Z', last_failure_content: `${lastCode}` }),
  });
  const project = { gid: '555', name: 'Shop', archived, workspace: { gid: '77', resource_type: 'workspace' } };
  const rules: readonly Rule[] = [
    rule('GET', /^\/users\/me$/, () => ({ body: { data: { gid: '1', name: 'Lee' } } })),
    rule('GET', /^\/projects\/(\d+)$/, (_, [, gid]) => (gid === '555' ? { body: { data: project } } : unknown)),
    ...ASANA_LISTS,
    rule('GET', /^\/webhooks$/, () => ({ body: { data: hooks.map(shown) } })),
    rule('DELETE', /^\/webhooks\/(\d+)$/, (_, [, gid]) => removed(hooks, gid, { body: { data: {} } }, unknown)),
    rule('POST', /^\/webhooks$/, async ({ body }) => {
      const { target } = JSON.parse(body).data;
      const secret = `b537207f20cbfa02357cf448134da55${made++}`;
      const answered = await fetch(target, { method: 'POST', headers: { 'x-hook-secret': secret } });
      if (!answered.ok || answered.headers.get('x-hook-secret') !== secret)
        return { status: 400, body: { errors: [{ message: 'The remote server did not respond with the handshake' }] } };
      const hook = { id: 900 + hooks.length, url: target, secret, active: true };
      hooks.push(hook);
      return { status: 201, body: { data: shown(hook), 'X-Hook-Secret': secret } };
    }),
  ];
  const wanted = { authorization: new RegExp(`^Bearer ${TOKEN}$`) };
  return Object.assign(await startVendor(openApiContract('asana'), wanted, rules), { hooks });
}

/** The team ENG. */
export async function startLinearPlaces({ isAdmin = true } = {}): Promise<AdminStandin> {
  const hooks: StoredHook[] = [];
  const shown = ({ id, url, active }: StoredHook) => ({
    id: String(id),
    url,
    enabled: active,
    resourceTypes: ['Issue'],
  });
  const states = ['Todo/unstarted', 'Done/completed'].map((each, position) => {
    const [name, type] = each.split('/');
    return { id: `state-${name}`, name, type, position };
  });
  const set = (hook: StoredHook, { url, secret, enabled }: { url: string; secret: string; enabled: boolean }) => {
    Object.assign(hook, { url, secret, active: enabled });
    return { success: true, lastSyncId: 1, webhook: shown(hook) };
  };
  const root = {
    viewer: () => ({ displayName: 'lee' }),
    teams: ({ filter }: { filter: { key: { eq: string } } }) => ({
      nodes: filter.key.eq === 'ENG' ? [{ id: 'team-eng' }] : [],
    }),
    team: ({ id }: { id: string }) => ({ id, states: { nodes: states } }),
    issueLabels: () => ({ nodes: [{ id: 'label-crm', name: 'crm' }] }),
    webhooks: () => ({ nodes: hooks.map(shown) }),
    webhookCreate({ input }: { input: Parameters<typeof set>[1] }) {
      const hook = { id: hooks.length + 1, url: '', secret: '', active: true };
      hooks.push(hook);
      return set(hook, input);
    },
    webhookUpdate({ id, input }: { id: string; input: Parameters<typeof set>[1] }) {
      const hook = hooks.find((each) => String(each.id) === id);
      return hook === undefined ? { success: false } : set(hook, input);
    },
    webhookDelete({ id }: { id: string }) {
      removed(hooks, id, {}, {});
      return { success: true, lastSyncId: 1, entityId: id };
    },
  };
  const rules = [
    rule('POST', /^\/graphql$/, ({ body }) => {
      const { query, variables } = JSON.parse(body);
      if (!isAdmin && /webhook/i.test(query)) return graphqlError('Invalid role: admin required', 'FORBIDDEN');
      const { data, errors } = graphqlSync({
        schema: SCHEMA,
        source: query,
        variableValues: variables,
        rootValue: root,
      });
      return { body: errors === undefined ? { data } : { data, errors } };
    }),
  ];
  return Object.assign(await startVendor(GRAPHQL, { authorization: new RegExp(`^${TOKEN}$`) }, rules), { hooks });
}

/** The project 6Jf8. */
export function startTodoistPlaces(given: { is_archived?: boolean; is_deleted?: boolean } = {}) {
  const project = shownProject('6Jf8', given);
  return startVendor(openApiContract('todoist'), { authorization: new RegExp(`^Bearer ${TOKEN}$`) }, [
    rule('GET', /^\/api\/v1\/tasks$/, () => ({ body: { results: [], next_cursor: null } })),
    rule('GET', /^\/api\/v1\/projects\/(\w+)$/, (_, [, id]) =>
      id === '6Jf8'
        ? { body: project }
        : { status: 404, body: { error: 'Not found', error_code: 478, http_code: 404 } },
    ),
  ]);
}

function removed(hooks: StoredHook[], id: string | undefined, reply: Reply, otherwise: Reply): Reply {
  const index = hooks.findIndex((hook) => String(hook.id) === id);
  if (index === -1) return otherwise;
  hooks.splice(index, 1);
  return reply;
}
