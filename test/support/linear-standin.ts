/** Linear with two teams, as far as the target uses it: packages/sdk/src/schema.graphql in linear/linear. */
import { buildSchema, type DocumentNode, executeSync, GraphQLError, parse, validate } from 'graphql';
import { z } from 'zod';
import { openLinear } from '../../src/mirror/targets/linear/linear.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import { noteExercised } from './exercised.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import {
  type DetailedVendor,
  HOOK_SECRET,
  NO_DETAILS,
  secretRef,
  TOKEN,
  USUAL,
  type VendorComment,
} from './item-vendor.ts';
import { type Contract, vendorFile } from './vendor-contract.ts';
import { rule, startVendor } from './vendor-standin.ts';

export interface LinearIssue {
  readonly id: string;
  identifier: string;
  /** Before it moved to another team. */
  formerIdentifier?: string;
  readonly team: string;
  stateId: string;
  trashed?: boolean;
  readonly title?: string;
  readonly description?: string;
  readonly dueDate?: string | null;
  readonly assigneeId?: string | null;
  readonly priority?: number;
  labelIds?: readonly string[];
  updatedAt?: string;
}

export interface LinearVendor extends DetailedVendor {
  readonly issues: LinearIssue[];
  readonly states: LinearState[];
  /** The team. */
  isRetired: boolean;
  /** The operations asked for so far, by name. */
  operations(): string[];
}

interface LinearCreation {
  readonly id: string;
  readonly teamId: string;
  readonly title: string;
  readonly description: string;
}

interface LinearUpdate {
  readonly stateId?: string;
  readonly addedLabelIds?: readonly string[];
  readonly removedLabelIds?: readonly string[];
}

const CREATED_AT = '2026-02-01T12:00:00.000Z';
const UPDATED_AT = '2026-02-28T12:00:00.000Z';
/** Its labels by name. */
const LABELS = ['mirror', 'urgent', 'new'];

interface LinearFilter {
  readonly updatedAt?: { readonly gte: string };
  readonly team?: { readonly id: { readonly eq: string } };
  readonly or?: readonly { readonly team: { key: { eq: string } }; readonly number: { in: readonly number[] } }[];
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

interface Query {
  readonly document: DocumentNode;
  /** Why the schema does not accept it. */
  readonly problem: string | undefined;
}

const queries = new Map<string, Query>();

/** Reads and checks each query once: that takes longer than answering it, and the target has few. */
function readQuery(text: string): Query {
  const known = queries.get(text);
  if (known !== undefined) return known;
  const document = parse(text);
  const query = { document, problem: validate(SCHEMA, document)[0]?.message };
  queries.set(text, query);
  return query;
}

/** A query that does not fit the schema is a mistake of ours; an error of a resolver is the vendor's answer. */
export const GRAPHQL: Contract = {
  requestProblem({ method, path, body }) {
    if (method !== 'POST' || path !== '/graphql') return 'there is only POST /graphql';
    return readQuery(JSON.parse(body).query).problem;
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
    ...USUAL,
    type: 'linear',
    url: 'https://api.linear.app',
    token: secretRef(TOKEN),
    oauth: false,
    team: 'ENG',
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 40, perMs: 60_000, burst: 1, concurrency: 4 },
    ...NO_DETAILS,
    ...given,
  };
}

export function graphqlError(message: string, code: string, type = 'invalid input', status = 200): Reply {
  return { status, body: { errors: [{ message, extensions: { code, type } }], data: null } };
}

export async function startLinear(): Promise<LinearVendor> {
  const issues: LinearIssue[] = [];
  const comments: VendorComment[] = [];
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
  const find = (id: string) =>
    issues.find((issue) => [issue.id, issue.identifier, issue.formerIdentifier].includes(id));
  const stateOf = (issue: LinearIssue | undefined) => states.find(({ id }) => id === issue?.stateId);

  const notFound = (what: string) =>
    new GraphQLError(`Entity not found: ${what}`, { extensions: { code: 'INPUT_ERROR', type: 'invalid input' } });
  const shown = (id: string) => {
    const issue = find(id);
    if (issue === undefined) throw notFound('Issue');
    const own = comments.filter(({ itemId }) => itemId === issue.identifier);
    return {
      title: 'Old',
      createdAt: CREATED_AT,
      updatedAt: UPDATED_AT,
      labels: { nodes: (issue.labelIds ?? []).map((id) => ({ name: id.replace('label-', '') })) },
      ...issue,
      trashed: issue.trashed ?? null,
      state: stateOf(issue),
      team: { id: issue.team },
      comments: ({ filter }: { filter: { id: { eq: string } } }) => ({
        nodes: own.filter((comment) => comment.id === filter.id.eq),
      }),
    };
  };
  const root = {
    issue: ({ id }: { id: string }) => shown(id),
    issues({ filter, first, after, sort }: { filter: LinearFilter; first: number; after?: string; sort?: unknown }) {
      const found = issues.filter((issue) => isIn(filter, issue));
      if (sort !== undefined) found.sort((a, b) => changedAt(a) - changedAt(b));
      // Its place is that of an issue, wherever it is by now.
      const rest = found.slice(found.findIndex(({ id }) => id === after) + 1);
      const page = rest.slice(0, first);
      return {
        nodes: page.map(({ id }) => shown(id)),
        pageInfo: { hasNextPage: rest.length > page.length, endCursor: page.at(-1)?.id ?? null },
      };
    },
    team: ({ id }: { id: string }) => ({ id, states: { nodes: states } }),
    teams: ({ filter }: { filter: { key: { eq: string } } }) => ({
      nodes: filter.key.eq === 'ENG' ? [{ id: 'team-eng', retiredAt: linear.isRetired ? UPDATED_AT : null }] : [],
    }),
    issueUpdate({ id, input }: { id: string; input: LinearUpdate }) {
      const issue = find(id);
      if (issue === undefined) throw notFound('Issue');
      const { addedLabelIds = [], removedLabelIds = [], ...fields } = input;
      if (fields.stateId !== undefined && !states.some((state) => state.id === fields.stateId))
        throw notFound('WorkflowState');
      const kept = (issue.labelIds ?? []).filter((label) => !removedLabelIds.includes(label));
      Object.assign(issue, { ...fields, labelIds: [...kept, ...addedLabelIds] });
      return { success: true, lastSyncId: 1 };
    },
    issueLabels: ({ filter }: { filter: { name: { in: readonly string[] } } }) => ({
      nodes: LABELS.filter((name) => filter.name.in.includes(name)).map((name) => ({ id: `label-${name}`, name })),
    }),
    commentCreate({ input: { id, issueId, body } }: { input: { id: string; issueId: string; body: string } }) {
      const issue = find(issueId);
      if (issue === undefined) throw notFound('Issue');
      if (comments.some((comment) => comment.id === id))
        throw new GraphQLError('Id already in use', { extensions: { code: 'INPUT_ERROR' } });
      comments.push({ id, itemId: issue.identifier, text: body });
      return { success: true, lastSyncId: 1 };
    },
    issueCreate({ input: { teamId, ...given } }: { input: LinearCreation }) {
      const { id } = given;
      if (teamId !== 'team-eng') throw notFound('Team');
      if (find(id)) throw new GraphQLError('Id already in use', { extensions: { code: 'INPUT_ERROR' } });
      add({ ...given, stateId: 'state-Todo' });
      return { success: true, lastSyncId: 1, issue: shown(id) };
    },
  };
  /** Executes the query by the vendor's own schema, so neither a query nor an answer can differ from it. */
  const answer = ({ body }: SeenRequest): Reply => {
    const { query, variables } = JSON.parse(body);
    const { data = null, errors } = executeSync({
      schema: SCHEMA,
      document: readQuery(query).document,
      variableValues: variables,
      rootValue: root,
    });
    return { body: errors === undefined ? { data } : { data, errors } };
  };
  const vendor = await startVendor(GRAPHQL, { authorization: new RegExp(`^${TOKEN}$`) }, [
    rule('POST', /^\/graphql$/, answer),
  ]);
  const linear: LinearVendor = {
    vendor,
    issues,
    states,
    isRetired: false,
    operations: () => vendor.requests.map(operationOf),
    openTarget: (needs, given) => openLinear(linearSettings(given), needs),
    put(isCompleted, labels = []) {
      const labelIds = labels.map((name) => `label-${name}`);
      const stateId = isCompleted ? 'state-Done' : 'state-Todo';
      return add({ id: uuid(issues.length), stateId, labelIds }).identifier;
    },
    isCompleted: (itemId) => ['completed', 'canceled'].includes(stateOf(find(itemId))?.type ?? ''),
    count: () => issues.length,
    isWrite: (request) => operationOf(request) === 'Update' && 'stateId' in inputOf(request),
    isCreation: (request) => operationOf(request) === 'Create',
    field(itemId, name) {
      const { title, description, dueDate, labelIds, assigneeId, priority } = find(itemId) ?? {};
      const fields: Readonly<Record<string, unknown>> = {
        title,
        description,
        dueDate,
        labels: labelIds,
        assignee: assigneeId,
        priority,
      };
      return fields[name];
    },
    comments,
    isComment: (request) => operationOf(request) === 'Comment',
    isUpdate: (request) => operationOf(request) === 'Update' && !('stateId' in inputOf(request)),
    touch(itemId, at) {
      const issue = find(itemId);
      if (issue) issue.updatedAt = at.toISOString();
    },
    missing,
  };
  return linear;
}

function operationOf({ body }: SeenRequest): string {
  return /^(?:query|mutation) (\w+)/.exec(JSON.parse(body).query)?.[1] ?? '';
}

function inputOf({ body }: SeenRequest): object {
  return JSON.parse(body).variables.input;
}

function uuid(count: number): string {
  return `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
}

function changedAt({ updatedAt = UPDATED_AT }: LinearIssue): number {
  return Date.parse(updatedAt);
}

function isIn({ or = [], updatedAt, team: of }: LinearFilter, issue: LinearIssue): boolean {
  const { identifier, team } = issue;
  if (updatedAt !== undefined) return of?.id.eq === team && Date.parse(updatedAt.gte) <= changedAt(issue);
  return or.some(({ team, number }) => number.in.some((each) => identifier === `${team.key.eq}-${each}`));
}
