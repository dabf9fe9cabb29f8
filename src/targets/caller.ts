/** The road of every HTTP call to an outside system: the target's budget, its guarded address, no redirects, capped answers. */
import { lookup } from 'node:dns';
import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import type { Permit, Taken } from '../budget/budget.ts';
import { exchange } from '../client/exchange.ts';
import { openPool } from '../client/pool.ts';
import { retryAfterMs } from '../client/retry-after.ts';
import { messageOf } from '../errors.ts';
import { guardedLookup, hostProblem } from './address-guard.ts';
import { toAnswered } from './answers.ts';
import type { CallContext } from './target.ts';

export interface TargetRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Appended to the target's base address: begins with a slash, with its query; empty for that address itself. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface AnswerHeaders {
  /** Names in lower case; of several of one name, the first. */
  readonly [name: string]: string | undefined;
}

export type Answered =
  /** Whatever it says: 3xx, 4xx and HTML too. `text` is whole. */
  | {
      readonly status: 'answered';
      readonly httpStatus: number;
      readonly headers: AnswerHeaders;
      readonly text: string;
    }
  /** Nothing left this machine. */
  | {
      readonly status: 'not-sent';
      readonly reason: 'BUDGET' | 'ADDRESS_REFUSED' | 'UNREACHABLE' | 'ABORTED';
      readonly detail: string;
      readonly retryAfterMs?: number;
    }
  /** It left, and no whole answer came. `httpStatus` and `headers` where the answer's head did, and only its body did not. */
  | {
      readonly status: 'unknown';
      readonly reason: 'TIMEOUT' | 'BROKEN_OFF' | 'TOO_LARGE';
      readonly detail: string;
      readonly httpStatus?: number;
      readonly headers?: AnswerHeaders;
    };

export interface TargetCaller {
  /** Never rejects. Details name the method and the origin only: the path of a webhook may be a secret. */
  send(request: TargetRequest, context: CallContext): Promise<Answered>;
  /** Ends when the calls in flight have. Idempotent. */
  close(): Promise<void>;
}

export interface CallerConfig {
  /** The target's name in the settings, for messages. */
  readonly name: string;
  /** Checked by the settings. May have a path and a query, which are taken for a secret. */
  readonly baseUrl: string;
  /** Whether addresses of this machine and of private networks may be called. */
  readonly allowPrivate: boolean;
  /** For a whole call, connecting included, however slowly the answer drips. */
  readonly timeoutMs: number;
  /** Of an answer's body. Default: 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** Takes a token of the target's own budget before every call; it is given back after it. */
  readonly take: (signal: AbortSignal) => Promise<Taken>;
  /** Default: the system's. */
  readonly lookup?: LookupFunction;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

type Waited = Extract<Taken, { status: 'taken' }> | Extract<Answered, { status: 'not-sent' }>;

export function openCaller(config: CallerConfig): TargetCaller {
  const base = new URL(config.baseUrl);
  const { allowPrivate, timeoutMs, lookup: given = lookup } = config;
  const pool = openPool(base.origin, { timeoutMs, lookup: allowPrivate ? given : guardedLookup(given) });
  let closing: Promise<void> | undefined;

  async function send(request: TargetRequest, { signal }: CallContext): Promise<Answered> {
    const label = `${request.method} ${base.origin}`;
    const problem = allowPrivate ? undefined : hostProblem(base);
    if (problem !== undefined) return notSent('ADDRESS_REFUSED', `${label}: not sent: the address is ${problem}`);
    // One signal stops many calls, and each takes its listeners off again: no leak to be warned of.
    setMaxListeners(0, signal);
    const waited = await takePermit(label, signal);
    if (waited.status !== 'taken') return waited;
    const { permit } = waited;
    try {
      const wire = { ...request, path: join(base, request.path), headers: withAgent(request.headers) };
      const { maxAnswerBytes = MAX_ANSWER_BYTES } = config;
      const exchanged = await exchange(pool, wire, { timeoutMs, maxBodyBytes: maxAnswerBytes, signal });
      const answered = toAnswered(exchanged, label);
      await report(answered, permit);
      return answered;
    } finally {
      permit.release();
    }
  }

  async function takePermit(label: string, signal: AbortSignal): Promise<Waited> {
    const aborted = notSent('ABORTED', `${label}: not sent: aborted`);
    if (signal.aborted) return aborted;
    try {
      const taken = await config.take(signal);
      if (taken.status === 'taken') return taken;
      const detail = `${label}: not sent: no token of the budget of target ${config.name} in time`;
      return { ...notSent('BUDGET', detail), retryAfterMs: taken.retryAfterMs };
    } catch (error) {
      if (signal.aborted) return aborted;
      // Fails closed: without its store nobody knows what the other processes have used.
      return notSent(
        'BUDGET',
        `${label}: not sent: the budget of target ${config.name} cannot be asked: ${messageOf(error)}`,
      );
    }
  }

  return {
    send,
    async close() {
      closing ??= pool.close();
      await closing;
    },
  };
}

/** Tells the budget how the call went: everyone stops after a 429. */
async function report(answered: Answered, permit: Permit): Promise<void> {
  if (answered.status === 'not-sent' || answered.httpStatus === undefined) return;
  const { httpStatus, headers = {} } = answered;
  if (httpStatus >= 200 && httpStatus < 300) permit.succeeded();
  if (httpStatus !== 429) return;
  const waitMs = retryAfterMs({ retryAfter: headers['retry-after'], date: headers.date }, Date.now());
  await permit.limited(waitMs).catch(() => {
    // The store is away: the next `take` says so, while what came of this call is known all the same.
  });
}

function join(base: URL, path: string): string {
  return path === '' ? `${base.pathname}${base.search}` : `${base.pathname.replace(/\/+$/, '')}${path}`;
}

/** Some systems refuse calls without one: https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent */
function withAgent(headers: TargetRequest['headers']): Record<string, string> {
  return { 'user-agent': 'lockstep', ...headers };
}

function notSent(reason: Extract<Answered, { status: 'not-sent' }>['reason'], detail: string) {
  return { status: 'not-sent', reason, detail } as const;
}
