/** The interface between the dispatcher and its sources. */
import type { Logger } from 'pino';
import type { Admission } from '../../client/call/breaker.ts';
import type { Clock } from './clock.ts';

export interface Source<Claim, Item, Outcome, Stop = never> {
  /** A claim that lasts `ttlMs` from now; undefined: there is no work at the moment. */
  takeClaim(): Promise<Claim | undefined>;
  /** Extends the claim to `ttlMs` from now. False: it has expired or was taken over. */
  renew(claim: Claim): Promise<boolean>;
  /** Assigns up to `limit` items to this claim, durably. Returns none if the claim is not held. */
  claim(claim: Claim, limit: number): Promise<readonly Item[]>;
  /** Rejects only for defects, which end the dispatch. */
  send(item: Item, how: SendHow): Promise<Sent<Outcome, Stop>>;
  /** The outcome of an item that was claimed and not sent: it is released. */
  unsent(item: Item): Outcome;
  /** Writes outcomes if the claim is held. The same outcomes may come again after a failure. */
  record(claim: Claim, outcomes: readonly Outcome[]): Promise<Recorded<Outcome>>;
  /** Ends the claim. Items it still holds have an unknown outcome. */
  drop(claim: Claim): Promise<void>;
  /** Whether items may be sent now; default: always. */
  admit?(): Admission;
}

export interface SendHow {
  /** Nothing is sent after this time of the dispatcher's clock: the answer could come after the claim ends. */
  readonly dispatchBefore: number;
  /** Aborts when the claim is lost, or the call takes too long. */
  readonly signal: AbortSignal;
  /** False: the claim may belong to another process, so nothing may leave now. For calls that last longer than one renewal. */
  readonly mayDispatch: () => boolean;
  /** False: the outcome will not be recorded. */
  readonly isHeld: () => boolean;
}

export interface Sent<Outcome, Stop> {
  /** Undefined: unknown, until the claim is dropped. */
  readonly outcome?: Outcome | undefined;
  readonly stop?: Stop | undefined;
}

export type Recorded<Outcome> =
  /** `left` could not be written yet. */
  | { readonly status: 'recorded'; readonly left?: readonly Outcome[] }
  /** The outcomes are written, and nothing more may be sent. */
  | { readonly status: 'over' }
  | { readonly status: 'lost' };

export interface DispatchOptions {
  readonly ttlMs: number;
  /** How long an answer may take after the dispatch; 0 if the signal aborts the call. */
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Items claimed ahead. Adapts between the two: large portions for quick calls, small ones for slow calls. */
  readonly portion: { readonly least: number; readonly most: number };
  /** Outcomes that arrive within this time are recorded together. */
  readonly gatherMs: number;
  /** What happens when no items are left: `end`, or check again every half second. */
  readonly whenDry: 'end' | 'wait';
  /** After this the dispatch ends, though items may remain. Default: never. */
  readonly sliceMs?: number;
  readonly clock: Clock;
  /** Ends the dispatch after the calls in flight have finished. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export type Ended<Stop> =
  /** `more`: ended by the slice, the signal or the source. `lost`: the claim was lost. */
  { readonly status: 'unclaimed' | 'dry' | 'more' | 'lost' } | { readonly status: 'stopped'; readonly stop: Stop };
