/** Webhooks of GitHub: the event `issues`, closed and reopened. docs.github.com/en/webhooks/webhook-events-and-payloads#issues */
import { z } from 'zod';
import type { SecretRef } from '../settings/fields.ts';
import { githubItemId } from './github-items.ts';
import type { TargetNeeds } from './item-calls.ts';
import { readHook } from './item-hook.ts';
import { verifyGithubSignature } from './signature.ts';
import type { HookRequest, HookVerdict } from './target.ts';

const payload = z.object({
  action: z.enum(['closed', 'reopened']),
  issue: z.object({
    number: z.int().positive(),
    state: z.enum(['open', 'closed']),
    updated_at: z.iso.datetime({ offset: true }).optional().catch(undefined),
  }),
  repository: z.object({ name: z.string(), owner: z.object({ login: z.string() }) }),
});

export function readGithubHook(
  request: HookRequest,
  secret: SecretRef | undefined,
  needs: TargetNeeds,
  now: Date,
): Promise<HookVerdict> {
  return readHook(
    {
      secret,
      payload,
      verify: verifyGithubSignature,
      happenedAt: ({ issue }) => (issue.updated_at === undefined ? undefined : new Date(issue.updated_at)),
      itemsOf({ issue, repository }, { headers }) {
        if (headers['x-github-event'] !== 'issues') return [];
        const itemId = githubItemId(repository.owner.login, repository.name, issue.number);
        return [{ itemId, isCompleted: issue.state === 'closed', status: issue.state }];
      },
    },
    request,
    needs,
    now,
  );
}
