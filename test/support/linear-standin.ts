/** Linear with two teams, as far as the target uses it: packages/sdk/src/schema.graphql in linear/linear. */

import { buildSchema, GraphQLError, graphqlSync, parse, validate } from 'graphql';
import { z } from 'zod';
import { openLinear } from '../../src/mirror/targets/linear.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { noteExercised } from './exercised.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import { HOOK_SECRET, type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { type Contract, vendorFile } from './vendor-contract.ts';
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

interface LinearCreation {
  readonly id: string;
  readonly teamId: string;
  readonly title: string;
  readonly description: string;
}

interface LinearFilter {
  readonly or: readonly { readonly team: { key: { eq: string } }; readonly number: { in: readonly number[] } }[];
}

interface LinearState {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly position: number;
}

export const SCHEMA = buildSchema(vendorFile('linear.graphql'));

const graphqlErrors = z.object({
  errors: z
    .array(z.object({ message: z.string(), extensions: z.object({ code: z.string().optional() }).optional() }))
    .default([]),
});

/** A query that does not fit the schema is a mistake of ours; an error of a resolver is the vendor's answer. */
export const GRAPHQL: Contract = {
  requestProblem({ method, path, body }) {
    if (method !== 'POST' || path !== '/graphql') return 'there is only POST /graphql';
    return validate(SCHEMA, parse(JSON.parse(body).query))[0]?.message;
  },
  replyProblem: (_, { body }) => graphqlErrors.parse(body).errors.find(({ extensions }) => !extensions?.code)?.message,
  note(request, { body }) {
    const answer = graphqlErrors.safeParse(body);
    if (answer.success)
      noteExercised('linear', operationOf(request), answer.data.errors.length > 0 ? 'errors' : 'data');
  },
};

export function linearSettings(given: Partial<SettingsOf<'linear'>> = {}): SettingsOf<'linear'> {
  return {
    name: 'outside',
    type: 'linear',
    url: 'https://api.linear.app',
    token: secretRef(TOKEN),
    oauth: false,
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
      // Done comes before Shipped.
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

  const notFound = (what: string) =>
    new GraphQLError(`Entity not found: ${what}`, { extensions: { code: 'INPUT_ERROR', type: 'invalid input' } });
  const shown = (id: string) => {
    const issue = find(id);
    if (issue === undefined) throw notFound('Issue');
    return { ...issue, trashed: issue.trashed ?? null, state: stateOf(issue), team: { id: issue.team } };
  };
  const root = {
    issue: ({ id }: { id: string }) => shown(id),
    issues: ({ filter, first }: { filter: LinearFilter; first: number }) => ({
      nodes: issues
        .filter((issue) => isIn(filter, issue))
        .map(({ id }) => shown(id))
        .slice(0, first),
    }),
    team: ({ id }: { id: string }) => ({ id, states: { nodes: states } }),
    teams: ({ filter }: { filter: { key: { eq: string } } }) => ({
      nodes: filter.key.eq === 'ENG' ? [{ id: 'team-eng' }] : [],
    }),
    issueUpdate({ id, input: { stateId } }: { id: string; input: { stateId: string } }) {
      const issue = find(id);
      if (issue === undefined) throw notFound('Issue');
      if (!states.some((state) => state.id === stateId)) throw notFound('WorkflowState');
      issue.stateId = stateId;
      return { success: true, lastSyncId: 1 };
    },
    issueCreate({ input: { id, teamId, title, description } }: { input: LinearCreation }) {
      if (teamId !== 'team-eng') throw notFound('Team');
      if (find(id)) throw new GraphQLError('Id already in use', { extensions: { code: 'INPUT_ERROR' } });
      add({ id, title, description, stateId: 'state-Todo' });
      return { success: true, lastSyncId: 1, issue: shown(id) };
    },
  };
  /** Executes the query by the vendor's own schema, so neither a query nor an answer can differ from it. */
  const answer = ({ body }: SeenRequest): Reply => {
    const { query, variables } = JSON.parse(body);
    const { data = null, errors } = graphqlSync({
      schema: SCHEMA,
      source: query,
      variableValues: variables,
      rootValue: root,
    });
    return { body: errors === undefined ? { data } : { data, errors } };
  };
  const vendor = await startVendor(GRAPHQL, { authorization: new RegExp(`^${TOKEN}$`) }, [
    { method: 'POST', path: /^\/graphql$/, answer },
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

function isIn({ or }: LinearFilter, { identifier }: LinearIssue): boolean {
  return or.some(({ team, number }) => number.in.some((each) => identifier === `${team.key.eq}-${each}`));
}
