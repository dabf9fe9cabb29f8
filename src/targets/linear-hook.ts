/**
 * Webhooks of Linear: an Issue whose state was changed. linear.app/developers/webhooks: Linear-Signature holds the
 * HMAC-SHA256 of the body in hexadecimal digits, and the body the time of sending, which is to be checked against replays.
 */
import { z } from 'zod';
import type { SecretRef } from '../settings/fields.ts';
import type { TargetNeeds } from './item-calls.ts';
import { readHook } from './item-hook.ts';
import { isClosedType } from './linear-issue.ts';
import { type Verified, verifyGithubSignature } from './signature.ts';
import type { HookRequest, HookVerdict } from './target.ts';

/** Linear says one minute; clocks differ more than that. */
const TOLERANCE_MS = 5 * 60_000;

const sentAt = z.object({ webhookTimestamp: z.number() });

const payload = z.object({
  action: z.literal('update'),
  type: z.literal('Issue'),
  data: z.object({ identifier: z.string(), state: z.object({ name: z.string(), type: z.string() }) }),
  /** What the changed fields were before. */
  updatedFrom: z.object({ stateId: z.string() }),
});

export function readLinearHook(
  request: HookRequest,
  now: Date,
  secret: SecretRef | undefined,
  needs: TargetNeeds,
): Promise<HookVerdict> {
  return readHook(
    {
      secret,
      payload,
      verify: (received, key) => verify(received, key, now),
      happenedAt: () => undefined, // the time of sending is checked with the signature
      itemsOf: ({ data: { identifier, state } }) => [
        { itemId: identifier, isCompleted: isClosedType(state.type), status: state.name },
      ],
    },
    request,
    needs,
    now,
  );
}

/** The same digest as GitHub's, without its `sha256=`. */
function verify(request: HookRequest, secret: string, now: Date): Verified {
  const given = request.headers['linear-signature'];
  if (given === undefined) return refused('the header linear-signature is missing');
  const verified = verifyGithubSignature({ ...request, headers: { 'x-hub-signature-256': `sha256=${given}` } }, secret);
  if (verified.status === 'refused') return verified;
  const read = sentAt.safeParse(parse(request.body));
  if (!read.success) return refused('the body has no webhookTimestamp');
  const isFresh = Math.abs(read.data.webhookTimestamp - now.getTime()) <= TOLERANCE_MS;
  return isFresh ? verified : refused('webhookTimestamp is more than five minutes away from the clock here');
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function refused(reason: string): Verified {
  return { status: 'refused', httpStatus: 401, reason };
}
