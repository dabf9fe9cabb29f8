/**
 * Delivers every change to every target, with one dispatcher per target, and takes over the deliveries of dead processes.
 * Runs in parallel with the runner; several processes may deliver.
 */
import { setMaxListeners } from 'node:events';
import type { Repeated } from '../../base/repeat.ts';
import type { Target } from '../../contract/target.ts';
import { type Clock, systemClock } from '../../engine/dispatch/clock.ts';
import { keepDispatching } from '../../engine/dispatch/keep-dispatching.ts';
import { ledgerNow } from '../../engine/ledger/set-clock.ts';
import { dropDeadOutboxClaims } from './claims.ts';
import { DeliverySource, type DeliverySourceNeeds, TTL_MS } from './delivery-source.ts';

const LOOK_MS = 1_000;
/** Outcomes that arrive within this time are recorded together. */
const GATHER_MS = 100;
/** The most deliveries claimed ahead: another process cannot send what this one holds. */
const MOST_AHEAD = 400;

export interface DeliveringNeeds
  extends Pick<DeliverySourceNeeds, 'pool' | 'worker' | 'runs' | 'log' | 'onAttempt' | 'mayOverwrite'> {
  readonly targets: {
    /**
     * It is closed together with the dispatcher. Rejects if the target cannot be used, for example because a secret is
     * missing.
     */
    open(name: string): Promise<Target>;
    concurrencyOf(name: string): number;
  };
  readonly names: readonly string[];
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** Closing finishes what is in flight and releases the rest. */
export function startDelivering(needs: DeliveringNeeds): Repeated {
  const { pool, targets, names, log, clock = systemClock, random = Math.random } = needs;
  const closing = new AbortController();
  const { signal } = closing;
  setMaxListeners(0, signal); // every target listens

  async function deliverTo(target: string): Promise<void> {
    const source = new DeliverySource({ ...needs, target, open: () => targets.open(target), clock, random });
    const concurrency = targets.concurrencyOf(target);
    await keepDispatching(source, {
      ttlMs: TTL_MS,
      timeoutMs: 0,
      concurrency,
      portion: { least: 2 * concurrency, most: Math.max(MOST_AHEAD, 2 * concurrency) },
      gatherMs: GATHER_MS,
      clock,
      signal,
      log: log.child({ target }),
    });
    await source.close();
  }

  async function takeOver(): Promise<void> {
    while (!signal.aborted) {
      try {
        await ledgerNow(pool); // first, because a set clock can make a claim look expired
        await dropDeadOutboxClaims(pool, clock.ledgerNow());
      } catch (error) {
        log.warn({ err: error }, 'deliveries of processes that have ended could not be taken over');
      }
      await clock.wait(LOOK_MS, signal);
    }
  }

  const working = [takeOver(), ...names.map(deliverTo)];
  return {
    async close() {
      closing.abort();
      await Promise.all(working);
    },
  };
}
