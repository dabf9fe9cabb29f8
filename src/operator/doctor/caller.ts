/**
 * Makes the calls of an examination in the interactive lane, within the account's budget, and counts them. An
 * examination never makes more calls, or takes longer, than allowed. A call that meets a rate limit is repeated after
 * the limit.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions, Client } from '../../client/call/client.ts';
import { decodeBody } from '../../client/call/decode.ts';
import type { Inspected, InspectOptions } from '../../client/call/inspect.ts';
import type { Json } from '../../client/call/json.ts';
import type { OperationName } from '../../contract/operations.ts';

export interface Look extends Inspected {
  /** The whole body; undefined if it is not JSON. */
  readonly json: Json | undefined;
}

export type LookOptions = Pick<CallOptions, 'path' | 'query' | 'body'> & InspectOptions;

/** The part of every answer that is kept, without its body. */
export type Trace = Pick<Inspected, 'httpStatus' | 'headers' | 'arrivedAtMs' | 'durationMs'>;

export interface Caller {
  /** @throws NotProbed if no more calls are allowed */
  look(operation: OperationName, options?: LookOptions): Promise<Look>;
  /** Waits between two reads of the same record. @throws NotProbed */
  pause(ms: number): Promise<void>;
  /** Requests that were sent. */
  made(): number;
  /** Answers that asked to slow down. */
  limited(): number;
  traces(): readonly Trace[];
}

export interface Allowance {
  readonly maxCalls: number;
  readonly withinMs: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Not an error: the probe has no calls or no time left. */
export class NotProbed extends Error {
  override readonly name = 'NotProbed';
}

const TRIES_WHEN_LIMITED = 3;

export function createCaller(client: Pick<Client, 'inspect'>, allowance: Allowance): Caller {
  const { maxCalls, timeoutMs, signal } = allowance;
  const endsAt = performance.now() + allowance.withinMs;
  const traces: Trace[] = [];
  let made = 0;
  let limited = 0;

  async function once(operation: OperationName, options: LookOptions): Promise<Inspected> {
    if (signal?.aborted) throw new NotProbed('stopped');
    if (made >= maxCalls) throw new NotProbed(`the examination has used its ${maxCalls} calls`);
    const leftMs = Math.floor(endsAt - performance.now());
    if (leftMs <= 0) throw new NotProbed(`the examination has used its ${allowance.withinMs / 1_000} s`);
    const inspected = await client.inspect(operation, {
      ...options,
      lane: 'interactive',
      maxWaitMs: leftMs,
      timeoutMs: Math.min(timeoutMs, leftMs),
      signal,
    });
    const { outcome, httpStatus, headers, arrivedAtMs, durationMs } = inspected;
    if (outcome.status === 'not-sent') {
      if (outcome.reason === 'aborted') throw new NotProbed('stopped');
      if (outcome.reason === 'budget') throw new NotProbed('the rate budget did not allow a call in time');
    } else {
      made++;
      traces.push({ httpStatus, headers, arrivedAtMs, durationMs });
    }
    if (outcome.status === 'limited') limited++;
    return inspected;
  }

  return {
    async look(operation, options = {}) {
      let inspected = await once(operation, options);
      for (let tries = 1; inspected.outcome.status === 'limited' && tries < TRIES_WHEN_LIMITED; tries++) {
        const leftMs = endsAt - performance.now();
        if (inspected.outcome.retryAfterMs > leftMs) break; // the budget waits this long before the next call
        inspected = await once(operation, options);
      }
      const decoded = decodeBody(Buffer.from(inspected.body));
      return { ...inspected, json: decoded.status === 'json' ? decoded.value : undefined };
    },
    async pause(ms) {
      if (performance.now() + ms >= endsAt) throw new NotProbed('the examination has used its time');
      await delay(ms, undefined, signal && { signal }).catch(() => {
        throw new NotProbed('stopped');
      });
    },
    made: () => made,
    limited: () => limited,
    traces: () => traces,
  };
}
