/**
 * Calls one account's service. Every call takes one path: budget → undici → decode → outcome.
 *
 * The client itself repeats only a call to a missing route, under the other prefix (prefix.ts), and a call whose path needs a
 * slash at the end, or must not have one (slash.ts); the caller decides what follows from an outcome. A call rejects only for a
 * mistake of ours (a missing path parameter) and when `onRecords` rejects; everything the network or the service does is an outcome.
 */
import { elapsedMs } from '../../base/clock.ts';
import { LockstepError, messageOf } from '../../base/errors.ts';
import { shortened, storable } from '../../base/texts.ts';
import type { InSpan } from '../../base/trace-span.ts';
import { withoutSecrets } from '../../base/without-secrets.ts';
import type { Operation, Prefix } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Budget, Lane, Taken } from '../budget/budget.ts';
import { unpacked } from '../http/content-encoding.ts';
import { type BodySink, type Exchanged, exchange, type Head } from '../http/exchange.ts';
import { openPool } from '../http/pool.ts';
import { type ConsumerFailed, createListSink, type OnRecords } from '../lists/list-sink.ts';
import { ageOf, type Call, classify, unavailableForMs } from './classify.ts';
import type { Dialect } from './dialect.ts';
import { type Inspected, type InspectOptions, seen, withCredentials } from './inspect.ts';
import { after, type NotSent, type NotSentReason, type Outcome, type StreamOutcome } from './outcome.ts';
import { createPrefixes, type LearntPrefixes } from './prefix.ts';
import { rateHintOf } from './rate-headers.ts';
import { type Account, buildRequest, endpointOf, type Parameters, type Wire } from './request.ts';
import { createSlash } from './slash.ts';

type Ended = Outcome | StreamOutcome | ConsumerFailed;

export interface CallEvent {
  readonly operation: OperationName;
  readonly outcome: Ended;
  /** Until the budget granted the call. */
  readonly waitedMs: number;
  /** From the moment the budget granted the call. */
  readonly durationMs: number;
}

export interface ClientConfig extends Account {
  readonly prefix: 'auto' | Prefix;
  /** For a whole call, including connecting; for a streamed list, for each pause without data. */
  readonly timeoutMs: number;
  /** Maximum connections; at least as many as the calls the budget allows in flight. */
  readonly concurrency: number;
  /** Not closed by the client. */
  readonly budget: Pick<Budget, 'take'>;
  readonly dialect: Dialect;
  /** Limit for an answer that is not streamed. Default 8 MiB. */
  readonly maxBodyBytes?: number;
  /** Tokens a call takes. Default 1. */
  readonly costOf?: (operation: OperationName) => number;
  /** Called for each call that the budget granted. */
  readonly onCall?: (event: CallEvent) => void;
  /** Each request is made in a span, which includes the wait for the budget. */
  readonly inSpan?: InSpan | undefined;
  /** What `learntPrefixes` returned in an earlier process. */
  readonly knownPrefixes?: LearntPrefixes;
}

export interface CallOptions extends Parameters {
  readonly lane: Lane;
  /** Ends the wait for the budget and aborts a call that was sent. */
  readonly signal?: AbortSignal;
  /** Ends only the wait for the budget; a write that was sent still gets its answer. Use instead of `signal`. */
  readonly stopWaiting?: AbortSignal;
  /** How long to wait for the budget; after that the outcome is `not-sent` with `retryAfterMs`. */
  readonly maxWaitMs?: number;
  /** On the `elapsedMs` scale: after this time nothing is written to a socket. */
  readonly dispatchBefore?: number;
  /** False: nothing is written to a socket now. */
  readonly mayDispatch?: (() => boolean) | undefined;
  readonly timeoutMs?: number;
  /** This call was made before and failed: an open breaker pauses it even if a person waits for it. */
  readonly isRetry?: boolean;
}

export interface StreamOptions extends CallOptions {
  /** Batches of up to 1,000 records, one after another; the next is read when the promise resolves. */
  readonly onRecords: OnRecords;
}

export interface Client {
  call(operation: OperationName, options: CallOptions): Promise<Outcome>;
  /**
   * Reads a whole list in constant memory. Unless the outcome is `applied`, discard the records handed over: the answer
   * was incomplete, or its envelope reports a failure.
   */
  stream(operation: OperationName, options: StreamOptions): Promise<StreamOutcome>;
  /** One request, under one prefix, and everything that came back; see inspect.ts. */
  inspect(operation: OperationName, options: CallOptions & InspectOptions): Promise<Inspected>;
  learntPrefixes(): LearntPrefixes;
  close(): Promise<void>;
}

const DEFAULT_MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Enough for an address, the members of a record and what to set. */
const MAX_MESSAGE_LENGTH = 1_000;

type Allowed = Extract<Taken, { status: 'taken' }>;

/** How `call`, `stream` and `inspect` process the answer to one request. */
interface Taking<T> {
  /** Receives the body as it arrives. */
  readonly sink?: BodySink;
  /** Turns the exchange into a result. */
  finish(exchanged: Exchanged, call: Call, durationMs: number): T | Promise<T>;
}

/** One call, from the budget to its outcome. */
interface Asked<T> {
  readonly operation: OperationName;
  readonly options: CallOptions & Pick<InspectOptions, 'maxBodyBytes'>;
  take(call: Call): Taking<T>;
}

const SORTED: Taking<Outcome> = { finish: (exchanged, call) => classify(call, exchanged) };

/** Throws BASE_URL_INVALID, API_KEY_INVALID or AUTHORIZATION_INVALID if the settings cannot be used. */
export function createClient(config: ClientConfig): Client {
  const { dialect } = config;
  const endpoint = endpointOf(config);
  const prefixes = createPrefixes(config.prefix, config.knownPrefixes);
  const slash = createSlash();
  const pool = openPool(endpoint.origin, { timeoutMs: config.timeoutMs, connections: config.concurrency });
  let closing: Promise<void> | undefined;

  /** Calls under the known prefix and, if that has no such route, under the other. */
  async function callAnyPrefix<T extends Ended>(asked: Asked<T>): Promise<T | NotSent> {
    const prefix = prefixes.first(asked.operation);
    const first = await callOnce(asked, { endpoint, dialect, prefix });
    const other = prefixes.other(asked.operation, prefix, first);
    if (other === undefined) return first;
    const second = await callOnce(asked, { endpoint, dialect, prefix: other });
    const bothLackIt = prefixes.other(asked.operation, other, second) !== undefined;
    // Of two refusals, prefer the service's own message to a framework's page.
    return bothLackIt && !saysJson(second) ? after(second, first) : after(first, second);
  }

  function callOnce<T extends Ended>(asked: Asked<T>, wire: Wire): Promise<T | NotSent> {
    const { operation } = asked;
    const send = async () => {
      const hasSlash = slash.isUsed();
      const first = await sendOnce(asked, { ...wire, hasSlash });
      if (!slash.isWrong(operation, hasSlash, first)) return first;
      const second = await sendOnce(asked, { ...wire, hasSlash: !hasSlash });
      slash.isWrong(operation, !hasSlash, second);
      return after(first, second);
    };
    if (config.inSpan === undefined) return send();
    const attributes = { 'lockstep.account': config.account, 'lockstep.operation': operation };
    return config.inSpan(`call ${operation}`, attributes, send, ({ status }) => ({ 'lockstep.outcome': status }));
  }

  async function sendOnce<T extends Ended>({ operation, options, take }: Asked<T>, wire: Wire): Promise<T | NotSent> {
    const call = buildRequest(operation, options, wire);
    const askedAt = performance.now();
    const waited = await takePermit(config, operation, options, call.label);
    if (waited.status !== 'taken') return cleaned(waited, endpoint);
    const startedAt = performance.now();
    try {
      const { timeoutMs = config.timeoutMs, maxBodyBytes = config.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES } = options;
      const taking = take(call);
      const exchanged = await exchange(pool, call.request, { ...options, timeoutMs, maxBodyBytes, sink: taking.sink });
      await tellHint(waited, exchanged.head);
      const isPoured = exchanged.head !== undefined && taking.sink?.accepts(exchanged.head) === true;
      const whole = isPoured ? exchanged : await unpacked(exchanged, maxBodyBytes);
      const outcome = withAge(
        cleaned(await taking.finish(whole, call, performance.now() - startedAt), endpoint),
        exchanged.head,
      );
      prefixes.saw(operation, wire.prefix, outcome);
      await tellOutcome(waited, outcome, exchanged.head);
      const durationMs = performance.now() - startedAt;
      config.onCall?.({ operation, outcome, waitedMs: startedAt - askedAt, durationMs });
      return outcome;
    } finally {
      waited.permit.release();
    }
  }

  return {
    call: (operation, options) => callAnyPrefix({ operation, options, take: () => SORTED }),
    async stream(operation, options) {
      assertList(operation);
      const how = { onRecords: options.onRecords, isPage: options.query !== undefined };
      const streamed = await callAnyPrefix({ operation, options, take: (call) => createListSink(call, dialect, how) });
      if ('consumerFailed' in streamed) throw streamed.consumerFailed.error;
      return streamed;
    },
    async inspect(operation, options) {
      const wire: Wire = {
        endpoint: withCredentials(endpoint, options.credentials),
        dialect: { ...dialect, completeMethod: options.completeMethod ?? dialect.completeMethod },
        prefix: options.prefix ?? prefixes.first(operation),
      };
      const inspecting = new Inspecting(endpoint);
      const outcome = await callOnce({ operation, options, take: () => inspecting }, wire);
      return { ...inspecting.found, outcome };
    },
    learntPrefixes: () => prefixes.learnt(),
    close: () => (closing ??= pool.close()),
  };
}

function takePermit(
  { budget, costOf }: ClientConfig,
  operation: OperationName,
  options: CallOptions,
  label: string,
): Promise<Allowed | NotSent> {
  const { lane, maxWaitMs = Number.POSITIVE_INFINITY, dispatchBefore = Number.POSITIVE_INFINITY } = options;
  const signal = options.stopWaiting ?? options.signal;
  const leftMs = dispatchBefore - elapsedMs();
  if (leftMs <= 0) return Promise.resolve(notSent(label, 'deadline', 'its send deadline has passed'));
  if (signal?.aborted) return Promise.resolve(notSent(label, 'aborted', 'aborted'));
  const cost = costOf?.(operation) ?? 1;
  return budget.take({ lane, cost, signal, maxWaitMs: Math.max(0, Math.min(maxWaitMs, leftMs)) }).then(
    (taken) => {
      if (taken.status === 'taken') return taken;
      const refused = notSent(label, 'budget', 'the rate budget granted no token in time');
      return { ...refused, retryAfterMs: taken.retryAfterMs };
    },
    (error: unknown) => {
      if (signal?.aborted) return notSent(label, 'aborted', 'aborted while it waited for the rate budget');
      // Fails closed: without the store, this process cannot know how many calls the others made.
      return notSent(label, 'budget-away', `the rate budget is unavailable: ${messageOf(error)}`);
    },
  );
}

function cleaned<T extends Ended>(outcome: T, { secrets }: Wire['endpoint']): T {
  if (!('message' in outcome)) return outcome;
  const message = storable(withoutSecrets(outcome.message, secrets));
  return { ...outcome, message: shortened(message, MAX_MESSAGE_LENGTH) };
}

/** If the budget's store is unreachable, the next `take` reports it; the outcome of the call is known anyway. */
async function tellHint({ permit }: Allowed, head: Head | undefined): Promise<void> {
  const hint = head && rateHintOf(head);
  if (hint !== undefined) await permit.hinted(hint).catch(() => {});
}

async function tellOutcome({ permit }: Allowed, outcome: Ended, head: Head | undefined): Promise<void> {
  const waitMs = outcome.status === 'limited' ? outcome.retryAfterMs : head && unavailableForMs(head);
  if (waitMs !== undefined) await permit.limited(waitMs).catch(() => {}); // as above
  if (outcome.status === 'applied') permit.succeeded();
}

class Inspecting implements Taking<Outcome> {
  readonly #endpoint: Wire['endpoint'];
  found: Omit<Inspected, 'outcome'> = { body: '', durationMs: 0 };

  constructor(endpoint: Wire['endpoint']) {
    this.#endpoint = endpoint;
  }

  finish(exchanged: Exchanged, call: Call, durationMs: number): Outcome {
    this.found = seen(exchanged, { endpoint: this.#endpoint, durationMs });
    return classify(call, exchanged);
  }
}

function withAge<T extends Ended>(outcome: T, head: Head | undefined): T {
  const cachedForS = head === undefined ? 0 : ageOf(head);
  return outcome.status === 'applied' && cachedForS > 0 ? { ...outcome, cachedForS } : outcome;
}

function notSent(label: string, reason: NotSentReason, why: string): NotSent {
  return { status: 'not-sent', message: `${label}: not sent: ${why}`, reason };
}

function saysJson(outcome: Ended): boolean {
  return outcome.status === 'refused' && outcome.json === true;
}

function assertList(name: OperationName): void {
  const operation: Operation = operations[name];
  if (operation.list !== undefined) return;
  throw new LockstepError('NOT_A_LIST', `${name} does not return a list: only lists can be streamed`);
}
