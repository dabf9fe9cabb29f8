/**
 * Webhooks of Jira: `jira:issue_updated` where the status changed, signed by the secret of an admin webhook
 * (developer.atlassian.com/cloud/jira/platform/webhooks, X-Hub-Signature). An automation rule, which cannot sign, sends
 * the same and the secret in x-lockstep-secret.
 */
import { z } from 'zod';
import type { Hook } from './item-hook.ts';
import { jiraIssue, toJiraItem } from './jira-issue.ts';
import { verifyBodyDigest, verifySharedSecret } from './signature.ts';

const payload = z.object({
  /** Milliseconds. An automation rule may leave it out. */
  timestamp: z.number().optional(),
  webhookEvent: z.literal('jira:issue_updated'),
  issue: jiraIssue,
  changelog: z.object({ items: z.array(z.object({ field: z.string().optional() })) }).optional(),
});

const DIGEST = { header: 'x-hub-signature', prefix: 'sha256=' };

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
      // Without a changelog what changed is unknown; with one, other fields are none of our business.
      const isStatus = changelog === undefined || changelog.items.some(({ field }) => field === 'status');
      return isStatus ? [toJiraItem(issue, doneStatus)] : [];
    },
  };
}
