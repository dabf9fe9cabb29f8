/**
 * Webhooks of Linear: an Issue whose state or team was changed. linear.app/developers/webhooks: Linear-Signature holds the HMAC-SHA256
 * of the body in hexadecimal digits. The body has the time of sending, which has to be checked against replays.
 */
import { z } from 'zod';
import { jsonOf } from '../calls/call-answers.ts';
import { refused, verifyBodyDigest } from '../calls/signature.ts';
import type { Hook } from '../items/item-hook.ts';

/** Linear recommends one minute; clocks can differ by more than that. */
const TOLERANCE_MS = 5 * 60_000;

const sentAt = z.object({ webhookTimestamp: z.number() });

const payload = sentAt.extend({
  action: z.literal('update'),
  type: z.literal('Issue'),
  data: z.object({
    identifier: z.string().min(1),
    previousIdentifiers: z.array(z.string().min(1)).optional(),
    state: z.object({ name: z.string(), type: z.string() }),
  }),
  /** The previous values of the changed fields. A move to another team changes the identifier. */
  updatedFrom: z.union([z.object({ stateId: z.string() }), z.object({ teamId: z.string() })]),
});

/** Canceled and duplicate are final too: a completed task does not override a person who chose one of them. */
export function isClosedType(type: string): boolean {
  return type === 'completed' || type === 'canceled' || type === 'duplicate';
}

export const linearHook: Hook<z.output<typeof payload>> = {
  payload,
  verify(request, secrets, now) {
    const verified = verifyBodyDigest(request, secrets, { header: 'linear-signature', prefix: '' });
    if (verified.status === 'refused') return verified;
    const read = sentAt.safeParse(jsonOf(request.body));
    if (!read.success) return refused('the body has no webhookTimestamp');
    const isFresh = Math.abs(read.data.webhookTimestamp - now.getTime()) <= TOLERANCE_MS;
    return isFresh ? verified : refused('webhookTimestamp differs by more than five minutes from this machine’s clock');
  },
  happenedAt: ({ webhookTimestamp }) => new Date(webhookTimestamp),
  itemsOf({ data: { identifier, previousIdentifiers: formerIds = [], state } }) {
    const item = { itemId: identifier, isCompleted: isClosedType(state.type), status: state.name };
    return [formerIds.length === 0 ? item : { ...item, formerIds }];
  },
};
