/** Runs before every operation: checks the key, counts its traffic, and applies its rate limit if there is one. */
import type { IncomingHttpHeaders } from 'node:http';
import type pg from 'pg';
import type { OperationName } from '../contract/operations.ts';
import { authenticator, type Caller } from './authentication.ts';
import { rateLimiter } from './rate-limit.ts';
import type { Refused } from './result.ts';
import type { Behaviour } from './testbed/behaviour.ts';
import type { TrafficRecorder } from './traffic.ts';

export interface Admitted {
  readonly status: 'admitted';
  readonly caller: Caller;
  /** RateLimit headers for the answer, if the behaviour sends them. */
  readonly headers: Readonly<Record<string, string>>;
}

/** `address`: the caller's. */
export type Admit = (
  operation: OperationName,
  headers: IncomingHttpHeaders,
  address: string,
) => Promise<Admitted | Refused>;

export function admission(pool: pg.Pool, behaviour: Behaviour, traffic: TrafficRecorder): Admit {
  const authenticate = authenticator(pool, behaviour.requiredAuthorization);
  const limit = rateLimiter(behaviour.rateLimit, behaviour.rateLimitHeaders);
  return async (operation, headers, address) => {
    const arrivedAtMs = performance.now();
    const caller = await authenticate(headers, address);
    if (caller.status === 'refused') {
      traffic.wasUnauthorized();
      return caller;
    }
    traffic.arrived(caller.tenantId, operation, arrivedAtMs);
    const admitted = limit(caller.keyId, arrivedAtMs);
    if (admitted.allowed) return { status: 'admitted', caller, headers: admitted.headers };
    traffic.wasLimited(caller.tenantId);
    return {
      status: 'refused',
      httpStatus: 429,
      message: 'too many requests for this API key',
      headers: admitted.headers,
    };
  };
}
