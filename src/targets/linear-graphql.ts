/**
 * What is asked of Linear, and what its errors mean. Errors come with HTTP 200 as well as 400, a limit among them.
 * Sources: packages/sdk/src/schema.graphql in linear/linear, linear.app/developers/graphql and …/rate-limiting.
 */
import { z } from 'zod';
import type { ItemFailure, Missing, Reply, Vendor } from './item-outcome.ts';
import { limited, tokenRefused, waitOf } from './item-outcome.ts';

export const ISSUE =
  'query Issue($id: String!) { issue(id: $id) { id identifier trashed state { name type } team { id } } }';
export const STATES =
  'query States($id: String!) { team(id: $id) { states(first: 250) { nodes { id name type position } } } }';
export const TEAM = 'query Team($key: String!) { teams(filter: { key: { eq: $key } }, first: 1) { nodes { id } } }';
export const MOVE =
  'mutation Move($id: String!, $stateId: String!) { issueUpdate(id: $id, input: { stateId: $stateId }) { success } }';
export const CREATE =
  'mutation Create($input: IssueCreateInput!) { issueCreate(input: $input) { success issue { identifier } } }';

export const issueAnswer = z.object({
  data: z.object({
    issue: z.object({
      id: z.string(),
      identifier: z.string(),
      trashed: z.boolean().nullish(),
      state: z.object({ name: z.string(), type: z.string() }),
      team: z.object({ id: z.string() }),
    }),
  }),
});

export const statesAnswer = z.object({
  data: z.object({
    team: z.object({
      states: z.object({
        nodes: z.array(z.object({ id: z.string(), name: z.string(), type: z.string(), position: z.number() })),
      }),
    }),
  }),
});

export const teamAnswer = z.object({
  data: z.object({ teams: z.object({ nodes: z.array(z.object({ id: z.string() })) }) }),
});

export const moveAnswer = z.object({ data: z.object({ issueUpdate: z.object({ success: z.boolean() }) }) });

export const createAnswer = z.object({
  data: z.object({
    issueCreate: z.object({ success: z.boolean(), issue: z.object({ identifier: z.string() }).nullish() }),
  }),
});

const errorsAnswer = z.object({
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z
          .object({
            code: z.string().optional(),
            type: z.string().optional(),
            userPresentableMessage: z.string().nullish(),
          })
          .optional(),
      }),
    )
    .min(1),
});

/** The quotas that Linear counts, each with the time when it is whole again: milliseconds of epoch time. */
const QUOTAS = ['requests', 'complexity', 'endpoint-requests'].map((quota) => `x-ratelimit-${quota}`);

export const vendor: Vendor = {
  name: 'Linear',
  tokenRemedy: "check this target's token: it was revoked, or lacks the permission to read and write the team's issues",
  judge,
  messageOf(body) {
    const read = errorsAnswer.safeParse(body);
    return read.success ? read.data.errors.map(explain).join('; ') : undefined;
  },
};

/** An issue that is not there is told of in an answer of GraphQL; a 404 is about the address. */
const NO_API: ItemFailure = {
  status: 'refused',
  reason: 'REJECTED',
  detail: "Linear: HTTP 404: there is no API at this address: check this target's url",
};

function judge(reply: Reply, nowMs: number): ItemFailure | Missing | undefined {
  const read = errorsAnswer.safeParse(reply.body);
  if (!read.success) return reply.httpStatus === 404 ? NO_API : undefined;
  const detail = `Linear: ${read.data.errors.map(explain).join('; ').slice(0, 300)}`;
  const isAny = (pattern: RegExp) =>
    read.data.errors.some(({ extensions = {} }) => pattern.test(`${extensions.code ?? ''} ${extensions.type ?? ''}`));
  if (isAny(/ratelimited/i)) return limited(detail, waitOf(reply, nowMs) ?? untilReset(reply, nowMs));
  if (isAny(/authentication|forbidden/i) || reply.httpStatus === 401) return tokenRefused(vendor, detail);
  if (read.data.errors.some(({ message }) => /not found: Issue\b/i.test(message))) return { status: 'missing', detail };
  if (isAny(/internal|lock.?timeout|network/i) || reply.httpStatus >= 500) {
    return { status: 'later', reason: 'SERVER_ERROR', detail };
  }
  return { status: 'refused', reason: 'REJECTED', detail };
}

function untilReset({ headers }: Reply, nowMs: number): number | undefined {
  const resets = QUOTAS.filter((quota) => headers[`${quota}-remaining`] === '0')
    .map((quota) => Number(headers[`${quota}-reset`]))
    .filter((at) => at > nowMs);
  return resets.length === 0 ? undefined : Math.max(...resets) - nowMs;
}

function explain({ message, extensions }: z.output<typeof errorsAnswer>['errors'][number]): string {
  const { userPresentableMessage: forPeople } = extensions ?? {};
  return typeof forPeople === 'string' && forPeople !== message ? `${message} (${forPeople})` : message;
}
