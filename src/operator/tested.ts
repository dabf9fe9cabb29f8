/** What became of a test message, for the command line and the console. */
import { LockstepError } from '../base/errors.ts';
import type { DeliveryOutcome } from '../contract/target.ts';

export interface Tested {
  readonly isSent: boolean;
  /** A code, if it was not sent and there is one. */
  readonly reason: string | null;
  readonly detail: string | null;
}

/** Sends it once. Settings that cannot be used count as refused. */
export async function tested(send: () => Promise<DeliveryOutcome>): Promise<Tested> {
  const outcome = await send().catch(refusedBy);
  return {
    isSent: outcome.status === 'delivered',
    reason: 'reason' in outcome ? outcome.reason : null,
    detail: ('detail' in outcome ? outcome.detail : undefined) ?? null,
  };
}

function refusedBy(error: unknown): DeliveryOutcome {
  if (!(error instanceof LockstepError)) throw error;
  return { status: 'refused', reason: error.code, detail: error.message };
}
