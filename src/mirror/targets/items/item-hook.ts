/** Calls that come in from a vendor: whether they are genuine, and the JSON in them. */
import { z } from 'zod';
import { LockstepError } from '../../../base/errors.ts';
import type { HookRequest, ReportedItem, Target } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { jsonOf } from '../calls/call-answers.ts';
import { refused, type Verified } from '../calls/signature.ts';
import type { TargetNeeds } from './item-calls.ts';

export interface Hook<Payload> {
  readonly payload: z.ZodType<Payload>;
  /** With any of `secrets`. */
  verify(request: HookRequest, secrets: readonly string[], now: Date): Verified;
  /** When it happened, from the signed part; undefined if the payload does not say. */
  happenedAt(payload: Payload): Date | undefined;
  /** Empty if the call is about something else. */
  itemsOf(payload: Payload, request: HookRequest): readonly ReportedItem[];
}

/** A time in a payload; undefined if it has none that can be read. */
export const eventTime = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .optional()
  .catch(undefined);

/**
 * Calls without a time of sending are remembered for seven days (inbox.ts), so that none is stored twice; an older call
 * may no longer be remembered. Vendors let people send a call again for at most three days.
 */
const MAX_AGE_MS = 6 * 24 * 60 * 60 * 1000;

/** Of the settings of a target. During a rotation, calls with either are genuine. */
export interface HookSecrets {
  readonly hookSecret?: SecretRef | undefined;
  readonly previousHookSecret?: SecretRef | undefined;
}

export function hookReader<Payload>(
  { payload, verify, happenedAt, itemsOf }: Hook<Payload>,
  { hookSecret, previousHookSecret }: HookSecrets,
  { readSecret }: TargetNeeds,
): NonNullable<Target['readHook']> {
  return async (request, now) => {
    if (hookSecret === undefined) return refused('this target accepts no calls: set its hookSecret in the settings');
    const refs = [hookSecret, previousHookSecret].filter((ref) => ref !== undefined);
    const read = await Promise.all(refs.map((ref) => readSecret(ref).catch(unreadable)));
    const secrets = read.filter((one) => one !== undefined);
    // The settings check says why it cannot be read; the caller must not learn it.
    if (secrets.length === 0) return refused('the hookSecret of this target cannot be read');
    const verified = verify(request, secrets, now);
    if (verified.status === 'refused') return verified;
    const json = jsonOf(request.body);
    if (json === undefined) return refused('the body is not JSON: choose the content type application/json', 400);
    const parsed = payload.safeParse(json);
    // Genuine, but about something else that the vendor sends too: the vendor must not send it again.
    if (!parsed.success) return { status: 'accepted', items: [] };
    const items = itemsOf(parsed.data, request);
    const at = happenedAt(parsed.data)?.getTime();
    if (at === undefined) return { status: 'accepted', items, isUndated: true };
    if (now.getTime() - at > MAX_AGE_MS) return refused('it reports something that is more than six days old');
    return { status: 'accepted', items };
  };
}

function unreadable(error: unknown): undefined {
  if (!(error instanceof LockstepError)) throw error;
}
