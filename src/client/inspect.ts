/**
 * One call seen whole: beside its outcome, the head and the text that sorting it (classify.ts) throws away. For probes
 * that find out how a service answers where its contract is silent; everything else wants the outcome alone.
 */
import type { Prefix } from '../contract/operations.ts';
import type { Dialect } from './dialect.ts';
import type { Exchanged, Head } from './exchange.ts';
import type { Outcome } from './outcome.ts';
import { type Endpoint, redact, withBodyHeaders } from './request.ts';

/** Which credentials a call carries; `wrong-key` is a key that no service can have given out. */
export type Credentials = 'own' | 'wrong-key' | 'no-key' | 'no-authorization';

export interface InspectOptions {
  /** Default: the one the client would begin with. Where it has no such route, the other is not tried. */
  readonly prefix?: Prefix;
  /** Default: the account's own. */
  readonly credentials?: Credentials;
  /** Of mark-complete, in place of the dialect's. */
  readonly completeMethod?: Dialect['completeMethod'];
  /** In place of the client's; past it the outcome is `unknown`, and what came so far is kept. */
  readonly maxBodyBytes?: number;
}

export interface Inspected {
  readonly outcome: Outcome;
  /** Absent where no answer came. */
  readonly httpStatus?: number;
  /** Names in lower case. */
  readonly headers?: Head['headers'];
  /** As text, as far as it came and was wanted; without the account's secrets. */
  readonly body: string;
  /** Epoch time. */
  readonly arrivedAtMs?: number;
  /** From the moment the budget let it go to the last byte; connecting included. */
  readonly durationMs: number;
}

const WRONG_KEY = 'lockstep-doctor-not-a-key';

/** The endpoint with other credentials. */
export function withCredentials(endpoint: Endpoint, credentials: Credentials = 'own'): Endpoint {
  const { headers } = endpoint;
  const changed: Readonly<Record<Credentials, Endpoint['headers']>> = {
    own: headers,
    'wrong-key': { ...headers, API_KEY: WRONG_KEY },
    'no-key': without('API_KEY', headers),
    'no-authorization': without('authorization', headers),
  };
  return { ...endpoint, ...withBodyHeaders(changed[credentials]) };
}

/** Everything there is to see of one exchange but what it means. */
export function seen(
  { head, body }: Exchanged,
  { endpoint, durationMs }: { endpoint: Endpoint; durationMs: number },
): Omit<Inspected, 'outcome'> {
  return {
    httpStatus: head?.httpStatus,
    headers: head && cleanHeaders(head.headers, endpoint),
    arrivedAtMs: head?.arrivedAtMs,
    body: redact(Buffer.from(body).toString(), endpoint.secrets),
    durationMs,
  };
}

function cleanHeaders(headers: Head['headers'], { secrets }: Endpoint): Head['headers'] {
  const clean = (value: string | string[] | undefined) =>
    Array.isArray(value) ? value.map((one) => redact(one, secrets)) : value && redact(value, secrets);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(value)]));
}

function without(name: string, headers: Endpoint['headers']): Endpoint['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
}
