/** Runs before every operation: checks the key, and applies its rate limit if there is one. */
import type { IncomingHttpHeaders } from 'node:http';
import type pg from 'pg';
import type { OperationName } from '../contract/operations.ts';
import { authenticator, type Caller } from './authentication.ts';
import { rateLimiter } from './rate-limit.ts';
import type { Refused } from './result.ts';
import type { Behaviour } from './testbed/behaviour.ts';

export interface Admitted {
  readonly status: 'admitted';
  readonly caller: Caller;
  /** RateLimit headers for the answer, if the behaviour sends them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What became of a request. `atMs`: on the monotonic clock of this process. */
export type Arrival =
  | { readonly status: 'unauthorized' }
  | {
      readonly status: 'admitted' | 'limited';
      readonly tenantId: number;
      readonly operation: OperationName;
      readonly atMs: number;
    };

/** `address`: the caller's. */
export type Admit = (
  operation: OperationName,
  headers: IncomingHttpHeaders,
  address: string,
) => Promise<Admitted | Refused>;

export function admission(pool: pg.Pool, behaviour: Behaviour, onArrival?: (arrival: Arrival) => void): Admit {
  const authenticate = authenticator(pool, behaviour.requiredAuthorization);
  const limit = rateLimiter(behaviour.rateLimit, behaviour.rateLimitHeaders);
  return async (operation, headers, address) => {
    const atMs = performance.now();
    const caller = await authenticate(headers, address);
    if (caller.status === 'refused') {
      onArrival?.({ status: 'unauthorized' });
      return caller;
    }
    const { tenantId, keyId } = caller;
    const admitted = limit(keyId, atMs);
    onArrival?.({ status: admitted.allowed ? 'admitted' : 'limited', tenantId, operation, atMs });
    if (admitted.allowed) return { status: 'admitted', caller, headers: admitted.headers };
    return {
      status: 'refused',
      httpStatus: 429,
      message: 'too many requests for this API key',
      headers: admitted.headers,
    };
  };
}
