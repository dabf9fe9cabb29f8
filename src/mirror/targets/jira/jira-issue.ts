/** An issue of Jira, as its answers and webhooks describe it. */
import { z } from 'zod';
import type { ItemState } from '../../../contract/target.ts';
import { verifyBodyDigest, verifySharedSecret } from '../calls/signature.ts';
import type { Calls } from '../items/item-calls.ts';
import type { Hook } from '../items/item-hook.ts';
import type { Asked } from '../items/item-target.ts';
import { isSameName } from '../items/wanted-state.ts';

export const JIRA_ISSUE = '/rest/api/3/issue';

export const jiraStatus = z.object({
  name: z.string(),
  statusCategory: z.object({ key: z.string() }),
});

export const jiraIssue = z.object({ key: z.string().min(1), fields: z.object({ status: jiraStatus }) });

/** An issue is done if Jira says so, or if its status is the one that the settings name. */
export function toJiraItem(
  { key, fields: { status } }: z.output<typeof jiraIssue>,
  doneStatus: string | undefined,
): ItemState {
  const isCompleted =
    status.statusCategory.key === 'done' || (doneStatus !== undefined && isSameName(status.name, doneStatus));
  return { itemId: key, isCompleted, status: status.name };
}

export function readIssue(calls: Calls, itemId: string, doneStatus: string | undefined): Promise<Asked<ItemState>> {
  const item = jiraIssue.transform((issue) => toJiraItem(issue, doneStatus)); // a moved issue answers to its former key
  return calls.ask({ method: 'GET', path: `${JIRA_ISSUE}/${itemId}?fields=status` }, item);
}

/** Not by the search, which may lag behind. */
export function readIssues(
  calls: Calls,
  itemIds: readonly string[],
  doneStatus: string | undefined,
): Promise<Asked<readonly ItemState[]>> {
  const items = z
    .object({ issues: z.array(jiraIssue).default([]) })
    .transform(({ issues }) => issues.map((issue) => toJiraItem(issue, doneStatus)));
  const body = { issueIdsOrKeys: itemIds, fields: ['status'] };
  return calls.ask({ method: 'POST', path: `${JIRA_ISSUE}/bulkfetch`, isRead: true, body }, items);
}

const event = z.object({
  /** Milliseconds. An automation rule may leave it out. */
  timestamp: z.number().optional(),
  webhookEvent: z.literal('jira:issue_updated'),
  issue: jiraIssue,
  changelog: z
    .object({ items: z.array(z.object({ field: z.string().optional(), fromString: z.string().nullish() })) })
    .optional(),
});

/** An automation rule may also send the issue alone. */
const payload = z.union([
  event,
  jiraIssue.transform((issue): z.output<typeof event> => ({ webhookEvent: 'jira:issue_updated', issue })),
]);

const DIGEST = { header: 'x-hub-signature', prefix: 'sha256=' };

/**
 * Webhooks of Jira: `jira:issue_updated` where the status or the key changed, signed by the secret of an admin webhook
 * (developer.atlassian.com/cloud/jira/platform/webhooks, X-Hub-Signature). An automation rule, which cannot sign, sends
 * the same, or the issue alone, and the secret in x-lockstep-secret.
 */
export function jiraHook(doneStatus: string | undefined): Hook<z.output<typeof payload>> {
  return {
    payload,
    verify(request, secrets) {
      const { [DIGEST.header]: digest, 'x-lockstep-secret': shared } = request.headers;
      if (digest === undefined && shared !== undefined) return verifySharedSecret(request, secrets);
      return verifyBodyDigest(request, secrets, DIGEST);
    },
    happenedAt: ({ timestamp }) => (timestamp === undefined ? undefined : new Date(timestamp)),
    itemsOf({ issue, changelog }) {
      // Without a changelog it is unknown what changed; with one, changes of other fields are ignored.
      const changes = changelog?.items.filter(({ field }) => field === 'status' || field === 'Key');
      if (changes?.length === 0) return [];
      const formerIds = changes?.flatMap(({ field, fromString }) =>
        field === 'Key' && fromString ? [fromString] : [],
      );
      return [{ ...toJiraItem(issue, doneStatus), ...(formerIds?.length && { formerIds }) }];
    },
  };
}
