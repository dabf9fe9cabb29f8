/**
 * The courier of one process: takes every change to every target, each target on a route of its own, and looks after what
 * couriers of dead processes have left. Runs beside the runner; any number of processes may have one.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { WorkerIdentity } from '../engine/ledger/claims.ts';
import { ledgerNow } from '../engine/ledger/set-clock.ts';
import type { Target } from '../targets/target.ts';
import { dropDeadClaims, type Runs } from './claims.ts';
import { type Clock, systemClock } from './clock.ts';
import { pruneDeliveries } from './prune.ts';
import { type Route, startRoute } from './route.ts';

const LOOK_MS = 1_000;
const PRUNE_MS = 24 * 60 * 60 * 1000;

export interface CourierNeeds {
  readonly pool: pg.Pool;
  readonly worker: WorkerIdentity;
  readonly targets: {
    /** The courier closes what it has opened. Rejects where the target cannot be used, such as for want of a secret. */
    open(name: string): Promise<Target>;
    concurrencyOf(name: string): number;
  };
  /** The targets it serves. */
  readonly names: readonly string[];
  /** Whose deliveries it takes; default: those of every run. */
  readonly runs?: () => Runs;
  readonly log: Logger;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
  /** Closes it. */
  readonly signal?: AbortSignal;
}

export interface Courier {
  /** Finishes what is under way and gives back the rest. Idempotent. */
  close(): Promise<void>;
  /** There is something new: looks now rather than within half a second. */
  poke(): void;
}

export function startCourier(needs: CourierNeeds): Courier {
  const { pool, targets, names, log, signal, clock = systemClock, random = Math.random } = needs;
  const closing = new AbortController();
  const routes: readonly Route[] = names.map((target) =>
    startRoute({
      ...needs,
      target,
      concurrency: targets.concurrencyOf(target),
      open: () => targets.open(target),
      clock,
      random,
    }),
  );

  async function lookAfter(): Promise<void> {
    let prunedAtMs = Number.NEGATIVE_INFINITY;
    while (!closing.signal.aborted) {
      try {
        await ledgerNow(pool); // first: a claim may seem expired
        await dropDeadClaims(pool, clock.ledgerNow());
        if (clock.nowMs() - prunedAtMs >= PRUNE_MS) {
          prunedAtMs = clock.nowMs();
          await pruneDeliveries(pool, clock.ledgerNow());
        }
      } catch (error) {
        log.warn({ err: error }, 'deliveries could not be looked after');
      }
      await clock.wait(LOOK_MS, closing.signal);
    }
  }

  const looking = lookAfter();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      signal?.removeEventListener('abort', closeOnSignal);
      closing.abort();
      await Promise.all([looking, ...routes.map((route) => route.close())]);
    })();
    return closed;
  };
  const closeOnSignal = () => {
    close().catch((error: unknown) => log.error({ err: error }, 'the courier did not close in good order'));
  };
  if (signal?.aborted) closeOnSignal();
  else signal?.addEventListener('abort', closeOnSignal);
  return {
    close,
    poke() {
      for (const route of routes) route.poke();
    },
  };
}
