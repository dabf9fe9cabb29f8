/**
 * The queries to Linear, and what its errors mean. Errors, limits among them, come with HTTP 200 as well as 400.
 * Sources: packages/sdk/src/schema.graphql in linear/linear, linear.app/developers/graphql and …/rate-limiting.
 */
import { z } from 'zod';
import type { TargetFailure } from '../../../contract/target.ts';
import type { Calls } from '../items/item-calls.ts';
import { limitedFailure, type Reply, serverFailed, tokenRefused, untilTime, waitOf } from '../items/item-outcome.ts';
import { orUnread } from '../items/item-pages.ts';
import type { Asked, Missing } from '../items/item-target.ts';

export interface Query<T> {
  readonly query: string;
  readonly answer: z.ZodType<T>;
}

export function ask<T>(calls: Calls, { query, answer }: Query<T>, variables: object = {}): Promise<Asked<T>> {
  const isRead = !query.startsWith('mutation');
  return calls.ask({ method: 'POST', path: '/graphql', isRead, body: { query, variables } }, answer);
}

const issue = z.object({
  id: z.string(),
  identifier: z.string(),
  trashed: z.boolean().nullish(),
  state: z.object({ name: z.string(), type: z.string() }),
  team: z.object({ id: z.string() }),
});
export type Issue = z.output<typeof issue>;
const ISSUE_FIELDS = 'id identifier trashed state { name type } team { id }';

export const ISSUE = query(`query Issue($id: String!) { issue(id: $id) { ${ISSUE_FIELDS} } }`, { issue });

/** At most 100. */
export const ISSUES = query(
  `query Issues($filter: IssueFilter!) { issues(filter: $filter, first: 100, includeArchived: true) { nodes { ${ISSUE_FIELDS} } } }`,
  { issues: z.object({ nodes: z.array(issue) }) },
);

const newIssue = issue.extend({
  title: z.string(),
  description: z.string().nullish(),
  dueDate: z.string().nullish(),
  createdAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
});
export type NewIssue = z.output<typeof newIssue>;
/** The longest unchanged first. The schema calls `sort` internal; `orderBy`, which it does not, has no direction. */
export const NEW = query(
  `query New($filter: IssueFilter!, $after: String) { issues(
    filter: $filter, sort: [{ updatedAt: { order: Ascending } }], first: 100, after: $after) {
    nodes { ${ISSUE_FIELDS} title description dueDate createdAt updatedAt labels(first: 50) { nodes { name } } }
    pageInfo { hasNextPage endCursor } } }`,
  {
    issues: z.object({
      nodes: z.array(orUnread(newIssue, 'identifier')),
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullish() }),
    }),
  },
);

const state = z.object({ id: z.string(), name: z.string(), type: z.string(), position: z.number() });
export type State = z.output<typeof state>;
export const STATES = query(
  'query States($id: String!) { team(id: $id) { states(first: 250) { nodes { id name type position } } } }',
  { team: z.object({ states: z.object({ nodes: z.array(state) }) }) },
);

const TEAM = query(
  'query Team($key: String!) { teams(filter: { key: { eq: $key } }, first: 1) { nodes { id retiredAt } } }',
  { teams: z.object({ nodes: z.array(z.object({ id: z.string(), retiredAt: z.string().nullish() })) }) },
);

/** The id of the team with this key, which takes issues. */
export async function findTeam(calls: Calls, key: string): Promise<Asked<string>> {
  const asked = await ask(calls, TEAM, { key });
  if (asked.status !== 'ok') return asked;
  const [found] = asked.value.teams.nodes;
  if (found === undefined) return { status: 'missing', detail: `Linear: the token sees no team ${key}` };
  if (found.retiredAt) return { status: 'missing', detail: `Linear: the team ${key} is retired: restore it` };
  return { status: 'ok', value: found.id };
}

export const UPDATE = query(
  'mutation Update($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }',
  { issueUpdate: z.object({ success: z.boolean() }) },
);

export const CREATE = query(
  'mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { identifier } } }',
  { issueCreate: z.object({ success: z.boolean(), issue: z.object({ identifier: z.string() }).nullish() }) },
);

export const LABELS = query(
  `query Labels($names: [String!]!, $team: String!) { issueLabels(first: 250, filter: { name: { in: $names }, or: [
    { team: { null: true } }, { team: { key: { eq: $team } } } ] }) { nodes { id name } } }`,
  { issueLabels: z.object({ nodes: z.array(z.object({ id: z.string(), name: z.string() })) }) },
);

/** The ids by the names. */
export function labelsOf({ issueLabels }: z.output<typeof LABELS.answer>): ReadonlyMap<string, string> {
  return new Map(issueLabels.nodes.map(({ id, name }) => [name, id]));
}

export const COMMENTED = query(
  `query Commented($id: String!, $comment: ID!) { issue(id: $id) {
    comments(filter: { id: { eq: $comment } }, first: 1) { nodes { id } } } }`,
  { issue: z.object({ comments: z.object({ nodes: z.array(z.object({ id: z.string() })) }) }) },
);

export const COMMENT = query(
  'mutation Comment($input: CommentCreateInput!) { commentCreate(input: $input) { success } }',
  { commentCreate: z.object({ success: z.boolean() }) },
);

export function query<Shape extends z.ZodRawShape>(text: string, shape: Shape) {
  return { query: text, answer: z.object({ data: z.object(shape) }).transform(({ data }) => data) };
}

const errorsAnswer = z.object({
  errors: z
    .array(
      z.object({
        message: z.string().catch('an error without a message'),
        extensions: z
          .object({
            code: z.string().optional().catch(undefined),
            type: z.string().optional().catch(undefined),
            userPresentableMessage: z.string().optional().catch(undefined),
          })
          .optional()
          .catch(undefined),
      }),
    )
    .min(1),
});
export const message = errorsAnswer.transform(({ errors }) => errors.map(explain).join('; '));

export const TOKEN_REMEDY =
  "check this target's token: it was revoked, or lacks the permission to read and write the team's issues";
export const CLIENT_REMEDY =
  "check this target's oauthClient: its authorisation was revoked, or lacks the scopes read and write";

/** The quotas that Linear counts, each with the time at which it resets: milliseconds of epoch time. */
const QUOTAS = ['requests', 'complexity', 'endpoint-requests'].map((quota) => `x-ratelimit-${quota}`);

export function judge(reply: Reply, nowMs: number, tokenRemedy: string): TargetFailure | Missing | undefined {
  const read = errorsAnswer.safeParse(reply.body);
  if (!read.success) return undefined;
  const detail = `Linear: ${read.data.errors.map(explain).join('; ').slice(0, 300)}`;
  const isAny = (pattern: RegExp) =>
    read.data.errors.some(({ extensions = {} }) => pattern.test(`${extensions.code ?? ''} ${extensions.type ?? ''}`));
  if (isAny(/ratelimited/i)) return limitedFailure(detail, waitOf(reply, nowMs) ?? untilReset(reply, nowMs));
  if (isAny(/authentication/i) || reply.httpStatus === 401) return tokenRefused(tokenRemedy, detail);
  // One issue of a private team is enough for it, so other deliveries must not wait.
  if (isAny(/forbidden/i)) return { status: 'refused', reason: 'NOT_ALLOWED', detail: `${detail}; ${tokenRemedy}` };
  if (read.data.errors.some(({ message }) => /not found: Issue\b/i.test(message))) return { status: 'missing', detail };
  if (isAny(/internal|lock.?timeout|network/i) || reply.httpStatus >= 500) {
    return serverFailed(reply, detail, nowMs);
  }
  return { status: 'refused', reason: 'REJECTED', detail };
}

function untilReset(reply: Reply, nowMs: number): number | undefined {
  const { headers } = reply;
  const waits = QUOTAS.filter((quota) => headers[`${quota}-remaining`] === '0')
    .map((quota) => untilTime(Number(headers[`${quota}-reset`]), reply, nowMs))
    .filter((ms) => ms > 0);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function explain({ message, extensions }: z.output<typeof errorsAnswer>['errors'][number]): string {
  const { userPresentableMessage: forPeople } = extensions ?? {};
  return forPeople !== undefined && forPeople !== message ? `${message} (${forPeople})` : message;
}
