/** Linear with two teams, as far as the target uses it: packages/sdk/src/schema.graphql in linear/linear. */

import { openLinear } from '../../src/mirror/targets/linear.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import { HOOK_SECRET, type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { startVendor } from './vendor-standin.ts';

export interface LinearIssue {
  readonly id: string;
  readonly identifier: string;
  readonly team: string;
  stateId: string;
  trashed?: boolean;
  readonly title?: string;
  readonly description?: string;
}

export interface LinearVendor extends ItemVendor {
  readonly issues: LinearIssue[];
  readonly states: LinearState[];
  /** The operations asked for so far, by name. */
  operations(): string[];
}

/** Of all operations: each is sent the ones that it declares. */
interface Variables {
  readonly id: string;
  readonly stateId: string;
  readonly key: string;
  readonly input: {
    readonly id: string;
    readonly teamId: string;
    readonly title: string;
    readonly description: string;
  };
}

interface LinearState {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly position: number;
}

export function linearSettings(given: Partial<SettingsOf<'linear'>> = {}): SettingsOf<'linear'> {
  return {
    name: 'outside',
    type: 'linear',
    url: 'https://api.linear.app',
    token: secretRef(TOKEN),
    team: 'ENG',
    create: true,
    columns: {},
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 40, perMs: 60_000, burst: 1, concurrency: 4 },
    timeoutMs: 15_000,
    allowPrivate: false,
    ...given,
  };
}

export function graphqlError(message: string, code: string, type = 'invalid input', status = 200): Reply {
  return { status, body: { errors: [{ message, extensions: { code, type } }], data: null } };
}

export async function startLinear(): Promise<LinearVendor> {
  const issues: LinearIssue[] = [];
  const states = ['Todo/unstarted', 'Backlog/backlog', 'Shipped/completed', 'Done/completed', 'Canceled/canceled'].map(
    (each, index): LinearState => {
      const [name = '', type = ''] = each.split('/');
      // Done stands before Shipped.
      return { id: `state-${name}`, name, type, position: name === 'Shipped' ? 9 : index };
    },
  );
  const missing = graphqlError('Entity not found: Issue', 'INPUT_ERROR');
  const add = (given: Pick<LinearIssue, 'id' | 'stateId'> & Partial<LinearIssue>) => {
    const issue = { identifier: `ENG-${issues.length + 1}`, team: 'team-eng', ...given };
    issues.push(issue);
    return issue;
  };
  const find = (id: string) => issues.find((issue) => issue.id === id || issue.identifier === id);
  const stateOf = (issue: LinearIssue | undefined) => states.find(({ id }) => id === issue?.stateId);

  const resolvers: Record<string, (variables: Variables) => Reply> = {
    Issue({ id }) {
      const issue = find(id);
      if (issue === undefined) return missing;
      const { team, stateId, trashed = null, ...rest } = issue;
      return { body: { data: { issue: { ...rest, trashed, state: stateOf(issue), team: { id: team } } } } };
    },
    States: () => ({ body: { data: { team: { states: { nodes: states } } } } }),
    Team: ({ key }) => ({ body: { data: { teams: { nodes: key === 'ENG' ? [{ id: 'team-eng' }] : [] } } } }),
    Move({ id, stateId }) {
      const issue = find(id);
      if (issue === undefined || !states.some((state) => state.id === stateId)) return missing;
      issue.stateId = stateId;
      return { body: { data: { issueUpdate: { success: true } } } };
    },
    Create({ input: { id, teamId, title, description } }) {
      if (teamId !== 'team-eng') return graphqlError('Entity not found: Team', 'INPUT_ERROR');
      if (find(id)) return graphqlError('Id already in use', 'INPUT_ERROR', 'invalid input', 400);
      const { identifier } = add({ id, title, description, stateId: 'state-Todo' });
      return { body: { data: { issueCreate: { success: true, issue: { identifier } } } } };
    },
  };
  const vendor = await startVendor({ authorization: new RegExp(`^${TOKEN}$`) }, [
    {
      method: 'POST',
      path: /^\/graphql$/,
      body: ['query', 'variables'],
      answer(request) {
        const resolve = resolvers[operationOf(request)];
        return resolve === undefined ? { status: 400 } : resolve(JSON.parse(request.body).variables);
      },
    },
  ]);
  return {
    vendor,
    issues,
    states,
    operations: () => vendor.requests.map(operationOf),
    openTarget: (needs, { create }) => openLinear(linearSettings({ create }), needs),
    put: (isCompleted) =>
      add({ id: uuid(issues.length), stateId: isCompleted ? 'state-Done' : 'state-Todo' }).identifier,
    isCompleted: (itemId) => stateOf(find(itemId))?.type === 'completed',
    count: () => issues.length,
    isWrite: (request) => operationOf(request) === 'Move',
    isCreation: (request) => operationOf(request) === 'Create',
    missing,
  };
}

function operationOf({ body }: SeenRequest): string {
  return /^(?:query|mutation) (\w+)/.exec(JSON.parse(body).query)?.[1] ?? '';
}

function uuid(count: number): string {
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
}
