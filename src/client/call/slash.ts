/**
 * Whether the paths of a service end with a slash. A redirect to such a path asks for it, and the first call that is applied
 * there proves it. Until then, a call to a path that may be missing is repeated without the slash: only one of several
 * servers may have sent the redirect.
 */
import type { OperationName } from '../../contract/operations.ts';
import { isRead } from './classify.ts';
import type { Outcome, StreamOutcome } from './outcome.ts';
import { mayLackRoute } from './prefix.ts';

export interface Slash {
  isUsed(): boolean;
  /** Records the outcome of a call with or without the slash. True: the call may be repeated the other way. */
  isWrong(operation: OperationName, hasSlash: boolean, outcome: Outcome | StreamOutcome): boolean;
}

export function createSlash(): Slash {
  let state: 'none' | 'asked' | 'proven' = 'none';
  return {
    isUsed: () => state !== 'none',
    isWrong(operation, hasSlash, outcome) {
      if (hasSlash) {
        if (outcome.status === 'applied') state = 'proven';
        if (state === 'proven' || !mayLackRoute(operation, outcome, true)) return false;
        state = 'none';
        return true;
      }
      if (outcome.status !== 'unknown' || outcome.wantsSlash !== true) return false;
      if (state === 'none') state = 'asked';
      return isRead(operation);
    },
  };
}
