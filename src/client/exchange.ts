/**
 * One HTTP exchange on an undici pool, and the exact answer to the question that matters for a write: did it leave?
 *
 * undici calls `onRequestStart` in the same tick in which it writes the request to the socket, and not before there is a
 * connection. So that call is where `dispatchBefore` is checked, and having passed it is what `dispatched` means: an
 * exchange that fails earlier (DNS, refused, handshake, aborted in time) has sent nothing. Redirects are never followed.
 */
import type { Dispatcher } from 'undici';
import { elapsedMs } from '../clock.ts';
import { LockstepError } from '../errors.ts';

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With the query; begins with a slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Takes the body of an answer as it arrives, in place of its being collected. */
export interface BodySink {
  accepts(head: Head): boolean;
  /** What it returns is awaited before more is read; what it throws ends the exchange and is its `error`. */
  write(chunk: Uint8Array): Promise<void> | undefined;
  readonly maxBytes: number;
}

export interface ExchangeOptions {
  /** Without a sink: for the whole exchange. With one: for each silence; the time the sink takes is not counted. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  /** On the `elapsedMs` scale: past it, nothing is sent. Nor is anything once `timeoutMs` have passed on any clock. */
  readonly dispatchBefore?: number;
  readonly signal?: AbortSignal;
  readonly sink?: BodySink;
}

export interface Head {
  readonly httpStatus: number;
  /** Epoch time. */
  readonly arrivedAtMs: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Exchanged {
  readonly dispatched: boolean;
  /** Undefined where no answer came. */
  readonly head?: Head;
  /** As far as it came; empty where a sink took it. */
  readonly body: Uint8Array;
  /** What ended the exchange before the whole answer was here: undici's, the system's, a sink's, or a StoppedError. */
  readonly error?: unknown;
}

/** We ended the exchange ourselves. */
export class StoppedError extends LockstepError {
  override readonly name = 'StoppedError';
  readonly reason: 'timeout' | 'aborted' | 'deadline' | 'too-large' | 'unpackable';

  constructor(reason: StoppedError['reason'], message: string) {
    super(`CALL_${reason.replace('-', '_').toUpperCase()}`, message);
    this.reason = reason;
  }
}

/** A list may take long, but not for ever: a service that drips a byte now and then is cut off after this. */
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

class ExchangeHandler implements Dispatcher.DispatchHandler {
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
  readonly #onAbort: (() => void) | undefined;

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
    this.#onAbort = () => this.#stop(new StoppedError('aborted', 'aborted by the caller'));
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici's types allow for a second start after a failed pipeline; a request that has left is never sent again.
    if (this.#settled || this.#dispatched) {
      controller.abort(new StoppedError('aborted', 'ended before it was sent'));
      return;
    }
    this.#controller = controller;
    const { dispatchBefore = Number.POSITIVE_INFINITY } = this.#options;
    const nowMs = elapsedMs();
    // A timer does not see that the machine was suspended.
    if (nowMs >= this.#timesOutAtMs) this.#stop(new StoppedError('timeout', 'no connection in time'));
    else if (nowMs >= dispatchBefore) this.#stop(new StoppedError('deadline', 'too late to be sent'));
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
      this.#stop(new StoppedError('too-large', `an answer of more than ${limit} bytes`));
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
    const limit = sink === undefined ? `no whole answer within ${timeoutMs} ms` : `nothing came for ${timeoutMs} ms`;
    this.#stop(new StoppedError('timeout', limit));
  }

  #endTooLong(): void {
    this.#stop(new StoppedError('timeout', 'the answer goes on for more than an hour'));
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
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener('abort', this.#onAbort);
    const [first] = this.#chunks;
    const body = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#settle?.({ dispatched: this.#dispatched, head: this.#head, body, error });
  }
}
