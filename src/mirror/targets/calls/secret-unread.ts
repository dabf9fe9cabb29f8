import { LockstepError } from '../../../base/errors.ts';
import type { TargetFailure } from '../../../contract/target.ts';

/** For an error while a secret was read: it may be put back while the delivery waits. Rethrows defects. */
export function secretUnread(error: unknown): Extract<TargetFailure, { status: 'later' }> {
  if (!(error instanceof LockstepError)) throw error;
  return { status: 'later', reason: error.code, detail: error.message };
}
