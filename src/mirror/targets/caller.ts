/** The transport of every HTTP call to an outside system: its budget, checked addresses, no redirects, capped answers. */
import { lookup } from 'node:dns';
import { setMaxListeners } from 'node:events';
import type { LookupFunction } from 'node:net';
import { messageOf } from '../../base/errors.ts';
import type { Permit, Taken } from '../../client/budget/budget.ts';
import { exchange } from '../../client/http/exchange.ts';
import { openPool } from '../../client/http/pool.ts';
import { retryAfterMs } from '../../client/http/retry-after.ts';
import type { CallContext, TargetFailure } from '../../contract/target.ts';
import { guardedLookup, hostProblem } from './address-guard.ts';
import { type Answered, addressRefused, toAnswered } from './answers.ts';

export interface TargetRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Appended to the target's base address: begins with a slash, with its query; empty for that address itself. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TargetCaller {
  /** Never rejects. Details name the method and the origin only: the path of a webhook may be a secret. */
  send(request: TargetRequest, context: CallContext): Promise<Answered>;
  /** Ends when the calls in flight have. Idempotent. */
  close(): Promise<void>;
}

export interface CallerConfig {
  /** The target's name in the settings, for messages. */
  readonly name: string;
  /** Checked by the settings. It may have a path and a query, which count as secrets. */
  readonly baseUrl: string;
  /** Whether addresses of this machine and of private networks may be called. */
  readonly allowPrivate: boolean;
  /** For a whole call, connecting included, however slowly the answer arrives. */
  readonly timeoutMs: number;
  /** The largest body of an answer. Default: 1 MiB. */
  readonly maxAnswerBytes?: number;
  /** Takes a token of the target's own budget before every call, and releases it after the call. */
  readonly take: (signal: AbortSignal) => Promise<Taken>;
  /** Default: the system's. */
  readonly lookup?: LookupFunction;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

export function openCaller(config: CallerConfig): TargetCaller {
  const base = new URL(config.baseUrl);
  const { allowPrivate, timeoutMs, lookup: given = lookup } = config;
  const pool = openPool(base.origin, { timeoutMs, lookup: allowPrivate ? given : guardedLookup(given) });
  let closing: Promise<void> | undefined;

  async function send(request: TargetRequest, { signal }: CallContext): Promise<Answered> {
    const label = `${request.method} ${base.origin}`;
    const problem = allowPrivate ? undefined : hostProblem(base);
    if (problem !== undefined) return { status: 'failed', failure: addressRefused(label, `the address is ${problem}`) };
    // One signal stops many calls, and each removes its listeners again, so a warning about a leak would be wrong.
    setMaxListeners(0, signal);
    const taken = await takePermit(label, signal);
    if (taken.status !== 'taken') return { status: 'failed', failure: taken };
    const { permit } = taken;
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

  async function takePermit(label: string, signal: AbortSignal) {
    const aborted = { status: 'later', reason: 'ABORTED', detail: `${label}: not sent: aborted` } as const;
    // Our own budget is not a failure of the target: no attempt is spent.
    const later = (why: string): TargetFailure => {
      return { status: 'later', reason: 'BUDGET', detail: `${label}: not sent: ${why}`, isLimited: true };
    };
    if (signal.aborted) return aborted;
    try {
      const taken = await config.take(signal);
      if (taken.status === 'taken') return taken;
      const why = `no token of the budget of target ${config.name} in time`;
      return { ...later(why), retryAfterMs: taken.retryAfterMs };
    } catch (error) {
      if (signal.aborted) return aborted;
      // Fails closed: without its store, this process cannot know what the other processes have used.
      return later(`the budget of target ${config.name} cannot be read: ${messageOf(error)}`);
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

/** Reports the result of the call to the budget: all processes stop after a 429. */
async function report(answered: Answered, permit: Permit): Promise<void> {
  if (answered.status === 'failed') return;
  const { httpStatus, headers } = answered;
  if (httpStatus >= 200 && httpStatus < 300) permit.succeeded();
  if (httpStatus !== 429) return;
  const waitMs = retryAfterMs({ retryAfter: headers['retry-after'], date: headers.date }, Date.now());
  await permit.limited(waitMs).catch(() => {
    // The store is unavailable: the next `take` reports it, and the result of this call is known anyway.
  });
}

function join(base: URL, path: string): string {
  return path === '' ? `${base.pathname}${base.search}` : `${base.pathname.replace(/\/+$/, '')}${path}`;
}

/** Some systems refuse calls without a user agent: https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent */
function withAgent(headers: TargetRequest['headers']): Record<string, string> {
  return { 'user-agent': 'lockstep', ...headers };
}
