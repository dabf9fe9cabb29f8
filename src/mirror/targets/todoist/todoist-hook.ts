/**
 * Webhooks of a Todoist app: a task that was completed or reopened. developer.todoist.com/api/v1, Webhooks: the header
 * X-Todoist-Hmac-SHA256 holds the HMAC-SHA256 of the body, made with the app's client secret, in base64.
 */
import { z } from 'zod';
import { verifyBodyDigest } from '../calls/signature.ts';
import { eventTime, type Hook } from '../items/item-hook.ts';
import { plainItem } from '../items/wanted-state.ts';

const payload = z.object({
  event_name: z.enum(['item:completed', 'item:uncompleted']),
  /** A recurring task that was completed stays open. */
  event_data: z.object({ id: z.string().min(1), checked: z.boolean().optional() }),
  triggered_at: eventTime,
});

export const todoistHook: Hook<z.output<typeof payload>> = {
  payload,
  verify: (request, secrets) =>
    verifyBodyDigest(request, secrets, { header: 'x-todoist-hmac-sha256', prefix: '', encoding: 'base64' }),
  happenedAt: ({ triggered_at }) => triggered_at,
  itemsOf({ event_name, event_data: { id, checked = event_name === 'item:completed' } }) {
    return [plainItem(id, checked)];
  },
};
