/** Webhooks of GitHub: the event `issues`, closed and reopened. docs.github.com/en/webhooks/webhook-events-and-payloads#issues */
import { z } from 'zod';
import type { Hook } from './item-hook.ts';
import { githubItemId } from './item-naming.ts';
import { verifyBodyDigest } from './signature.ts';

const payload = z.object({
  action: z.enum(['closed', 'reopened']),
  issue: z.object({
    number: z.int().positive(),
    state: z.enum(['open', 'closed']),
    updated_at: z.iso.datetime({ offset: true }).optional().catch(undefined),
  }),
  repository: z.object({ name: z.string(), owner: z.object({ login: z.string() }) }),
});

export const githubHook: Hook<z.output<typeof payload>> = {
  payload,
  // docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  verify: (request, secret) => verifyBodyDigest(request, secret, { header: 'x-hub-signature-256', prefix: 'sha256=' }),
  happenedAt: ({ issue }) => (issue.updated_at === undefined ? undefined : new Date(issue.updated_at)),
  itemsOf({ issue, repository }, { headers }) {
    if (headers['x-github-event'] !== 'issues') return [];
    const itemId = githubItemId(repository.owner.login, repository.name, issue.number);
    return [{ itemId, isCompleted: issue.state === 'closed', status: issue.state }];
  },
};
