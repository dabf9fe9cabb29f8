/** Retention: deletes what is older than the settings keep it, of every kind. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Repeated, repeat } from '../../base/repeat.ts';
import { planPruning, pruneLedger } from '../../engine/ledger/retention/prune.ts';
import { countOldHooks, pruneHooks } from '../../mirror/inbound/inbox.ts';
import { countOldDeliveries, pruneDeliveries } from '../../mirror/outbox/prune.ts';
import type { Settings } from '../../settings/settings.ts';

/** How many of each kind were deleted, or would be. */
export interface Pruned {
  readonly rows: number;
  readonly runs: number;
  readonly deliveries: number;
  readonly inbox: number;
}

const PRUNE_MS = 60 * 60 * 1000;

export async function prune(pool: pg.Pool, { retention }: Settings, signal?: AbortSignal): Promise<Pruned> {
  const { deliveriesMs, inboxMs } = retention;
  return {
    ...(await pruneLedger(pool, retention, signal)),
    deliveries: deliveriesMs === undefined ? 0 : await pruneDeliveries(pool, deliveriesMs, signal),
    inbox: inboxMs === undefined ? 0 : await pruneHooks(pool, inboxMs),
  };
}

/** Counts what `prune` would delete now. */
export async function planPrune(pool: pg.Pool, { retention }: Settings): Promise<Pruned> {
  const { deliveriesMs, inboxMs } = retention;
  return {
    ...(await planPruning(pool, retention)),
    deliveries: deliveriesMs === undefined ? 0 : await countOldDeliveries(pool, deliveriesMs),
    inbox: inboxMs === undefined ? 0 : await countOldHooks(pool, inboxMs),
  };
}

/** Prunes at once and then every hour, until closed. */
export function keepPruning(pool: pg.Pool, settings: () => Settings, log: Logger): Repeated {
  const pruneOld = async (signal: AbortSignal) => {
    const pruned = await prune(pool, settings(), signal);
    if (Object.values(pruned).some((count) => count > 0)) log.info(pruned, 'old data was deleted');
  };
  const failed = (error: unknown) => log.warn({ err: error }, 'old data could not be deleted');
  return repeat(pruneOld, { pauseMs: () => PRUNE_MS, failed });
}
