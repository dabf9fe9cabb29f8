/** An issue of Jira, as its answers and webhooks describe it. */
import { z } from 'zod';
import type { ItemState } from '../../contract/target.ts';
import type { Hook } from './item-hook.ts';
import { verifyBodyDigest, verifySharedSecret } from './signature.ts';
import { isSameName } from './wanted.ts';

export const jiraStatus = z.object({
  name: z.string(),
  statusCategory: z.object({ key: z.string() }),
});

export const jiraIssue = z.object({ key: z.string(), fields: z.object({ status: jiraStatus }) });

/** An issue is done if Jira says so, or if its status is the one that the settings name. */
export function toJiraItem(
  { key, fields: { status } }: z.output<typeof jiraIssue>,
  doneStatus: string | undefined,
): ItemState {
  const isCompleted =
    status.statusCategory.key === 'done' || (doneStatus !== undefined && isSameName(status.name, doneStatus));
  return { itemId: key, isCompleted, status: status.name };
}

const payload = z.object({
  /** Milliseconds. An automation rule may leave it out. */
  timestamp: z.number().optional(),
  webhookEvent: z.literal('jira:issue_updated'),
  issue: jiraIssue,
  changelog: z.object({ items: z.array(z.object({ field: z.string().optional() })) }).optional(),
});

const DIGEST = { header: 'x-hub-signature', prefix: 'sha256=' };

/**
 * Webhooks of Jira: `jira:issue_updated` where the status changed, signed by the secret of an admin webhook
 * (developer.atlassian.com/cloud/jira/platform/webhooks, X-Hub-Signature). An automation rule, which cannot sign, sends
 * the same and the secret in x-lockstep-secret.
 */
export function jiraHook(doneStatus: string | undefined): Hook<z.output<typeof payload>> {
  return {
    payload,
    verify(request, secret) {
      const { [DIGEST.header]: digest, 'x-lockstep-secret': shared } = request.headers;
      if (digest === undefined && shared !== undefined) return verifySharedSecret(request, secret);
      return verifyBodyDigest(request, secret, DIGEST);
    },
    happenedAt: ({ timestamp }) => (timestamp === undefined ? undefined : new Date(timestamp)),
    itemsOf({ issue, changelog }) {
      // Without a changelog it is unknown what changed; with one, changes of other fields are ignored.
      const isStatus = changelog === undefined || changelog.items.some(({ field }) => field === 'status');
      return isStatus ? [toJiraItem(issue, doneStatus)] : [];
    },
  };
}
