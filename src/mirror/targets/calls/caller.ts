/**
 * The transport of every HTTP call to an outside system: its budget, checked addresses, capped answers. Redirects are not
 * followed, except, if asked, on the same origin.
 */
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { messageOf } from '../../../base/errors.ts';
import { withoutSecrets } from '../../../base/without-secrets.ts';
import type { Permit, Taken } from '../../../client/budget/budget.ts';
import { unpacked } from '../../../client/http/content-encoding.ts';
import { exchange, type WireRequest } from '../../../client/http/exchange.ts';
import { openPool } from '../../../client/http/pool.ts';
import { retryAfterMs } from '../../../client/http/retry-after.ts';
import type { CallContext, TargetFailure } from '../../../contract/target.ts';
import { guardedLookup, hostProblem } from './address-guard.ts';
import { type Answered, addressRefused, type Head, toAnswered } from './call-answers.ts';

/** Its path is appended to the target's base address: begins with a slash or is a query; empty for that address itself. */
export interface TargetRequest extends WireRequest {
  /** Whether it changes nothing at the target. Default: of GET and HEAD. */
  readonly isRead?: boolean;
  /** Follow answers that the resource has another address (301, 307, 308) on the same origin; for reads only. */
  readonly followsMoves?: boolean;
  /** Secrets that no answer may show; texts of fewer than four characters are not secret, and may occur in any answer. */
  readonly secrets?: readonly string[];
}

/** The pause in milliseconds that an answer asks of all calls to the target; undefined if it asks for none. */
export type LimitOf = (answered: Extract<Answered, { status: 'answered' }>) => number | undefined;

export interface TargetCaller {
  /**
   * Never rejects. Details name the method and the origin only: the path of a webhook may be a secret. `limitOf`: for a
   * target that asks for pauses in other ways than by a 429. Default: a 429 asks for one.
   */
  send(request: TargetRequest, context: CallContext, limitOf?: LimitOf): Promise<Answered>;
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

/** How long a call waits for its target's budget; after that, the call and all other calls to that target are postponed. */
export const PATIENCE_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Some systems refuse calls without a user agent: https://docs.github.com/en/rest/using-the-rest-api/getting-started-with-the-rest-api#user-agent */
const DEFAULT_HEADERS = { 'user-agent': 'lockstep', accept: 'application/json' };
const MOST_MOVES = 3;

export function openCaller(config: CallerConfig): TargetCaller {
  const base = new URL(config.baseUrl);
  const { origin } = base;
  const { allowPrivate, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES, lookup: given = lookup } = config;
  const problem = allowPrivate ? undefined : hostProblem(base);
  const pool = openPool(origin, { timeoutMs, lookup: allowPrivate ? given : guardedLookup(given) });
  let closing: Promise<void> | undefined;

  async function send(request: TargetRequest, context: CallContext, limitOf?: LimitOf): Promise<Answered> {
    let path = join(base, request.path);
    let answered = await sendOnce({ ...request, path }, context, limitOf);
    for (let moves = 0; request.followsMoves && moves < MOST_MOVES; moves++) {
      const moved = movedTo(answered, new URL(path, base));
      if (moved === undefined) break;
      path = moved;
      answered = await sendOnce({ ...request, path }, context, limitOf);
    }
    return answered;
  }

  /** `path`: below the origin. */
  async function sendOnce(request: TargetRequest, context: CallContext, limitOf?: LimitOf): Promise<Answered> {
    const { signal, mayDispatch } = context;
    const { method, path, body, secrets = [] } = request;
    const label = `${method} ${origin}`;
    if (problem !== undefined) return { status: 'failed', failure: addressRefused(label, `the address is ${problem}`) };
    const taken = await takePermit(label, signal);
    if (taken.status !== 'taken') return { status: 'failed', failure: taken };
    const { permit } = taken;
    let answered: Answered;
    try {
      const wire = {
        method,
        path,
        headers: { ...DEFAULT_HEADERS, ...request.headers },
        ...(body !== undefined && { body }),
      };
      const exchanged = await exchange(pool, wire, { timeoutMs, maxBodyBytes: maxAnswerBytes, signal, mayDispatch });
      answered = withoutSecretsIn(toAnswered(await unpacked(exchanged, maxAnswerBytes), label), secrets);
      await report(answered, permit, limitOf);
    } finally {
      permit.release();
    }
    await afterWaitingCalls();
    return answered;
  }

  async function takePermit(label: string, signal: AbortSignal) {
    if (signal.aborted) return notSent(label);
    try {
      const taken = await config.take(signal);
      if (taken.status === 'taken') return taken;
      const seconds = Math.ceil(taken.retryAfterMs / 1000);
      const why = `the budget of target ${config.name} allows no call for another ${seconds} s: it is used up, or the target asked for a pause`;
      return { ...withoutBudget(label, why), retryAfterMs: taken.retryAfterMs };
    } catch (error) {
      if (signal.aborted) return notSent(label);
      // Fails closed: without its store, this process cannot know what the other processes have used.
      return withoutBudget(label, `the budget of target ${config.name} cannot be read: ${messageOf(error)}`);
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

function notSent(label: string): TargetFailure {
  return { status: 'later', reason: 'ABORTED', detail: `${label}: not sent: aborted` };
}

/** Our own budget is not a failure of the target: no attempt is spent. */
function withoutBudget(label: string, why: string): TargetFailure {
  return { status: 'later', reason: 'BUDGET', detail: `${label}: not sent: ${why}`, isLimited: true };
}

/**
 * Resolves once the calls that waited for this slot are written: undici writes to a connection in the second turn of the event loop
 * after its last answer. What follows from this answer is worked out while they are under way, and not before they leave.
 */
function afterWaitingCalls(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

/** Reports the result of the call to the budget: all processes stop after a limit. */
async function report(answered: Answered, permit: Permit, limitOf: LimitOf = waitOfStatus): Promise<void> {
  if (answered.status === 'failed') return;
  const waitMs = answered.status === 'answered' ? limitOf(answered) : waitOfStatus(answered);
  const { httpStatus } = answered;
  if (waitMs === undefined && httpStatus >= 200 && httpStatus < 300) permit.succeeded();
  if (waitMs === undefined) return;
  await permit.limited(waitMs).catch(() => {
    // The store is unavailable: the next `take` reports it, and the result of this call is known anyway.
  });
}

function waitOfStatus({ httpStatus, headers }: Head): number | undefined {
  if (httpStatus !== 429) return undefined;
  return retryAfterMs(headers, Date.now());
}

/** Receivers often echo what they received. Before the text is read or cut: a part of a secret is secret, too. */
function withoutSecretsIn(answered: Answered, secrets: readonly string[]): Answered {
  if (answered.status !== 'answered') return answered;
  return { ...answered, text: withoutSecrets(answered.text, secrets) };
}

/** The path on the same origin that the resource has moved to; undefined if it has not. */
function movedTo(answered: Answered, from: URL): string | undefined {
  if (answered.status !== 'answered' || ![301, 307, 308].includes(answered.httpStatus)) return undefined;
  const { location } = answered.headers;
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  return to?.origin === from.origin ? `${to.pathname}${to.search}` : undefined;
}

function join(base: URL, path: string): string {
  if (path === '') return `${base.pathname}${base.search}`;
  return `${path.startsWith('?') ? base.pathname : base.pathname.replace(/\/+$/, '')}${path}`;
}
