/**
 * Webhooks of GitHub: the event `issues`, closed, reopened and transferred.
 * docs.github.com/en/webhooks/webhook-events-and-payloads#issues
 */
import { z } from 'zod';
import { verifyBodyDigest } from '../calls/signature.ts';
import { eventTime, type Hook } from '../items/item-hook.ts';
import { githubItemId } from '../items/item-naming.ts';

const issue = z.object({
  number: z.int().positive(),
  state: z.enum(['open', 'closed']),
  updated_at: eventTime,
});
const repository = z.object({ name: z.string().min(1), owner: z.object({ login: z.string().min(1) }) });
const changed = z.object({ action: z.enum(['closed', 'reopened']), issue, repository });
const transferred = z.object({
  action: z.literal('transferred'),
  issue,
  repository,
  changes: z.object({ new_issue: issue, new_repository: repository }),
});
const payload = z.discriminatedUnion('action', [changed, transferred]);

export const githubHook: Hook<z.output<typeof payload>> = {
  payload,
  // docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  verify: (request, secrets) =>
    verifyBodyDigest(request, secrets, { header: 'x-hub-signature-256', prefix: 'sha256=' }),
  happenedAt: ({ issue }) => issue.updated_at,
  itemsOf(call, { headers }) {
    if (headers['x-github-event'] !== 'issues') return [];
    const item = itemOf(call.issue, call.repository);
    if (call.action !== 'transferred') return [item];
    return [{ ...itemOf(call.changes.new_issue, call.changes.new_repository), formerIds: [item.itemId] }];
  },
};

function itemOf({ number, state }: z.output<typeof issue>, { owner, name }: z.output<typeof repository>) {
  return { itemId: githubItemId(owner.login, name, number), isCompleted: state === 'closed', status: state };
}
