/**
 * One call in full: its outcome, and the head and the body that classify.ts drops. For probes that find out how a service
 * answers where its contract is silent; everything else needs the outcome only.
 */
import { withoutSecrets } from '../../base/without-secrets.ts';
import type { Prefix } from '../../contract/operation.ts';
import type { Exchanged, Head } from '../http/exchange.ts';
import type { Dialect } from './dialect.ts';
import type { Outcome } from './outcome.ts';
import { type Endpoint, withBodyHeaders } from './request.ts';

/** Which credentials a call sends; `wrong-key` is a key that no service can have issued. */
export type Credentials = 'own' | 'wrong-key' | 'no-key' | 'no-authorization';

export interface InspectOptions {
  /** Default: the prefix the client tries first. If it has no such route, the other is not tried. */
  readonly prefix?: Prefix;
  /** Default: the account's own. */
  readonly credentials?: Credentials;
  /** Method of mark-complete, instead of the dialect's. */
  readonly completeMethod?: Dialect['completeMethod'];
  /** Instead of the client's limit; beyond it the outcome is `unknown`, and the bytes received so far are kept. */
  readonly maxBodyBytes?: number;
}

export interface Inspected {
  readonly outcome: Outcome;
  /** Absent if no answer came. */
  readonly httpStatus?: number;
  /** Names in lower case. */
  readonly headers?: Head['headers'];
  /** The part that was received and requested, as text, without the account's secrets. */
  readonly body: string;
  /** Epoch time. */
  readonly arrivedAtMs?: number;
  /** From the moment the budget granted the call to the last byte, including connecting. */
  readonly durationMs: number;
}

const WRONG_KEY = 'lockstep-doctor-not-a-key';

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

/** Everything observed in one exchange, except its outcome. */
export function seen(
  { head, body }: Exchanged,
  { endpoint, durationMs }: { endpoint: Endpoint; durationMs: number },
): Omit<Inspected, 'outcome'> {
  return {
    httpStatus: head?.httpStatus,
    headers: head && cleanHeaders(head.headers, endpoint),
    arrivedAtMs: head?.arrivedAtMs,
    body: withoutSecrets(Buffer.from(body).toString(), endpoint.secrets),
    durationMs,
  };
}

function cleanHeaders(headers: Head['headers'], { secrets }: Endpoint): Head['headers'] {
  const clean = (value: string | string[] | undefined) =>
    Array.isArray(value) ? value.map((one) => withoutSecrets(one, secrets)) : value && withoutSecrets(value, secrets);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(value)]));
}

function without(name: string, headers: Endpoint['headers']): Endpoint['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
}
