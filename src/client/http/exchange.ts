/**
 * One HTTP exchange on an undici pool. It reports exactly whether a request was sent, which matters for writes.
 *
 * undici calls `onRequestStart` in the same tick in which it writes the request to the socket, and only when there is a
 * connection. That callback checks `dispatchBefore` and `mayDispatch`, and `dispatched` means that the check passed: an exchange that fails
 * earlier (DNS, refused, handshake, aborted in time) has sent nothing. Redirects are never followed.
 */
import type { Dispatcher } from 'undici';
import { elapsedMs } from '../../base/clock.ts';
import { LockstepError } from '../../base/errors.ts';
import { type Stoppable, stoppablesOf } from '../../base/stoppables.ts';

export interface WireRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Includes the query; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Receives the body of an answer as it arrives, instead of collecting it. */
export interface BodySink {
  accepts(head: Head): boolean;
  /**
   * The exchange awaits the returned promise before it reads more; a thrown error ends the exchange and becomes its
   * `error`.
   */
  write(chunk: Uint8Array): Promise<void> | undefined;
  readonly maxBytes: number;
}

export interface ExchangeOptions {
  /** Without a sink: for the whole exchange. With a sink: for each pause without data, not counting the sink's own time. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** On the `elapsedMs` scale: after it nothing is sent. Nothing is sent after `timeoutMs` either, on any clock. */
  readonly dispatchBefore?: number;
  /** False: nothing is sent now. */
  readonly mayDispatch?: (() => boolean) | undefined;
  readonly signal?: AbortSignal;
  readonly sink?: BodySink;
}

export interface Head {
  readonly httpStatus: number;
  /** Epoch time. */
  readonly arrivedAtMs: number;
  /** Names lower-case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Exchanged {
  readonly dispatched: boolean;
  /** Undefined if no answer came. */
  readonly head?: Head;
  /** The bytes received; empty if a sink took them. */
  readonly body: Uint8Array;
  /**
   * What ended the exchange before the answer was complete: an error of undici, the system or the sink, or a
   * StoppedError.
   */
  readonly error?: unknown;
}

/** Lockstep ended the exchange. */
export class StoppedError extends LockstepError {
  override readonly name = 'StoppedError';
  readonly reason: 'timeout' | 'aborted' | 'deadline' | 'too-large' | 'unpackable';

  constructor(reason: StoppedError['reason'], message: string) {
    super(`CALL_${reason.replace('-', '_').toUpperCase()}`, message);
    this.reason = reason;
  }
}

/** The longest time for one list: limits a service that sends a byte occasionally. */
const LONGEST_STREAM_MS = 60 * 60 * 1000;

/** Sends one request; never rejects. With a sink, it ends after the sink's last write has. */
export function exchange(pool: Dispatcher, request: WireRequest, options: ExchangeOptions): Promise<Exchanged> {
  const handler = new ExchangeHandler(options);
  pool.dispatch(request, handler);
  return options.sink === undefined ? handler.result : afterWriting(handler);
}

async function afterWriting(handler: ExchangeHandler): Promise<Exchanged> {
  const exchanged = await handler.result;
  await handler.writing;
  return exchanged;
}

class ExchangeHandler implements Dispatcher.DispatchHandler, Stoppable {
  readonly result: Promise<Exchanged>;
  /** The sink's current write; never rejects. */
  writing: Promise<void> | undefined;
  readonly #options: ExchangeOptions;
  readonly #timesOutAtMs: number;
  #settle: ((exchanged: Exchanged) => void) | undefined;
  #settled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #dispatched = false;
  #head: Head | undefined;
  #sink: BodySink | undefined;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  readonly #silence: NodeJS.Timeout;
  readonly #longest: NodeJS.Timeout | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const { timeoutMs, sink, signal } = options;
    this.#timesOutAtMs = elapsedMs() + timeoutMs;
    this.#silence = setTimeout(() => this.#timeOut(), timeoutMs);
    if (sink !== undefined) this.#longest = setTimeout(() => this.#endTooLong(), LONGEST_STREAM_MS);
    if (signal === undefined) return;
    if (signal.aborted) this.stopped();
    else stoppablesOf(signal).add(this);
  }

  stopped(): void {
    this.#stop(new StoppedError('aborted', 'aborted by the caller'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici's types allow for a second start after a failed pipeline; a request that has left is never sent again.
    if (this.#settled || this.#dispatched) {
      controller.abort(new StoppedError('aborted', 'ended before it was sent'));
      return;
    }
    this.#controller = controller;
    const { dispatchBefore = Number.POSITIVE_INFINITY, mayDispatch = () => true } = this.#options;
    const nowMs = elapsedMs();
    // A timer does not count the time the machine was suspended.
    if (nowMs >= this.#timesOutAtMs) this.#stop(new StoppedError('timeout', 'connection timed out'));
    else if (nowMs >= dispatchBefore || !mayDispatch())
      this.#stop(new StoppedError('deadline', 'its send deadline has passed'));
    else this.#dispatched = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, httpStatus: number, headers: Head['headers']): void {
    if (httpStatus < 200) return;
    this.#head = { httpStatus, arrivedAtMs: Date.now(), headers };
    const { sink } = this.#options;
    if (sink?.accepts(this.#head)) this.#sink = sink;
    this.#refreshSilence();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const limit = this.#sink?.maxBytes ?? this.#options.maxBodyBytes;
    this.#bytes += chunk.length;
    if (this.#bytes > limit) {
      this.#stop(new StoppedError('too-large', `the answer has more than ${limit} bytes`));
    } else if (this.#sink === undefined) {
      this.#chunks.push(chunk);
    } else {
      this.#pour(controller, this.#sink, chunk);
    }
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end(error);
  }

  #pour(controller: Dispatcher.DispatchController, sink: BodySink, chunk: Buffer): void {
    try {
      const written = sink.write(chunk);
      if (written === undefined) {
        this.#refreshSilence();
        return;
      }
      controller.pause();
      clearTimeout(this.#silence);
      this.writing = written.then(
        () => {
          if (this.#settled) return;
          this.#silence.refresh();
          controller.resume();
        },
        (error: unknown) => this.#stop(error),
      );
    } catch (error) {
      this.#stop(error);
    }
  }

  #timeOut(): void {
    const { timeoutMs, sink } = this.#options;
    const seconds = timeoutMs / 1_000;
    const limit = sink === undefined ? `no complete answer within ${seconds} s` : `no data for ${seconds} s`;
    this.#stop(new StoppedError('timeout', limit));
  }

  #endTooLong(): void {
    this.#stop(new StoppedError('timeout', 'the answer took more than an hour'));
  }

  #refreshSilence(): void {
    if (this.#options.sink !== undefined) this.#silence.refresh();
  }

  #stop(error: unknown): void {
    if (this.#settled) return;
    const controller = this.#controller;
    this.#end(error);
    controller?.abort(new StoppedError('aborted', 'ended by the client'));
  }

  #end(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#silence);
    clearTimeout(this.#longest);
    const { signal } = this.#options;
    if (signal !== undefined) stoppablesOf(signal).delete(this);
    const [first] = this.#chunks;
    const body = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#settle?.({ dispatched: this.#dispatched, head: this.#head, body, error });
  }
}
