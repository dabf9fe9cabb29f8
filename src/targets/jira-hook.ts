/**
 * Webhooks of Jira: `jira:issue_updated` where the status changed, signed by the secret of an admin webhook
 * (developer.atlassian.com/cloud/jira/platform/webhooks, X-Hub-Signature). An automation rule, which cannot sign, sends
 * the same and the secret in x-lockstep-secret.
 */
import { z } from 'zod';
import type { SecretRef } from '../settings/fields.ts';
import type { TargetNeeds } from './item-calls.ts';
import { readHook } from './item-hook.ts';
import { jiraIssue, toJiraItem } from './jira-issue.ts';
import { type Verified, verifyGithubSignature, verifySharedSecret } from './signature.ts';
import type { HookRequest, HookVerdict } from './target.ts';

const payload = z.object({
  /** Milliseconds. An automation rule may leave it out. */
  timestamp: z.number().optional(),
  webhookEvent: z.literal('jira:issue_updated'),
  issue: jiraIssue,
  changelog: z.object({ items: z.array(z.object({ field: z.string().optional() })) }).optional(),
});

export function readJiraHook(
  request: HookRequest,
  secret: SecretRef | undefined,
  needs: TargetNeeds,
  doneStatus: string | undefined,
  now: Date,
): Promise<HookVerdict> {
  return readHook(
    {
      secret,
      payload,
      verify,
      happenedAt: ({ timestamp }) => (timestamp === undefined ? undefined : new Date(timestamp)),
      itemsOf({ issue, changelog }) {
        // Without a changelog nobody knows what changed; with one, other fields are none of our business.
        const isStatus = changelog === undefined || changelog.items.some(({ field }) => field === 'status');
        return isStatus ? [toJiraItem(issue.key, issue, doneStatus)] : [];
      },
    },
    request,
    needs,
    now,
  );
}

/** Jira writes what GitHub writes, `sha256=` and hexadecimal digits, under another name. */
function verify(request: HookRequest, secret: string): Verified {
  const given = request.headers['x-hub-signature'];
  if (given === undefined && request.headers['x-lockstep-secret'] !== undefined) {
    return verifySharedSecret(request, secret);
  }
  if (given !== undefined)
    return verifyGithubSignature({ ...request, headers: { 'x-hub-signature-256': given } }, secret);
  return { status: 'refused', httpStatus: 401, reason: 'the header x-hub-signature is missing' };
}
