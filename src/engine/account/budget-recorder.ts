/** Records how this process uses the budget of each account, minute by minute, for the pages that show it. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { elapsedMs } from '../../base/clock.ts';
import { repeat } from '../../base/repeat.ts';
import type { CallEvent } from '../../client/call/client.ts';
import { addBudgetUse } from '../ledger/scopes/budget-minutes.ts';
import { scopeNamed } from '../ledger/scopes/scopes.ts';
import type { Accounts } from './accounts.ts';

/** A crash loses at most this much of the record. */
const EVERY_MS = 5_000;

interface Use {
  calls: number;
  limited: number;
  waitedMs: number;
  /** On the `elapsedMs` scale. */
  pausedUntilMs?: number;
}

export function recordBudgets(pool: pg.Pool, budgets: Accounts['budgets'], log: Logger) {
  const used = new Map<string, Use>();

  async function write(): Promise<void> {
    const taken = [...used];
    used.clear();
    for (const [account, { pausedUntilMs, ...use }] of taken) {
      const { ratePerSecond: perSecond } = budgets().get(account) ?? {};
      await addBudgetUse(pool, await scopeNamed(pool, account), {
        ...use,
        perSecond,
        pausedForMs: pausedUntilMs && pausedUntilMs - elapsedMs(),
      });
    }
  }
  const failed = (error: unknown) => log.debug({ err: error }, 'the use of budgets was not recorded');
  const writing = repeat(write, { pauseMs: () => EVERY_MS, failed });

  return {
    /** Receives each call that the budget granted. */
    called(account: string, { outcome, waitedMs }: CallEvent): void {
      const use: Use = used.get(account) ?? { calls: 0, limited: 0, waitedMs: 0 };
      use.calls++;
      use.waitedMs += waitedMs;
      if (outcome.status === 'limited') {
        use.limited++;
        use.pausedUntilMs = Math.max(use.pausedUntilMs ?? 0, elapsedMs() + outcome.retryAfterMs);
      }
      used.set(account, use);
    },
    /** Writes what is not written yet, and stops. Idempotent. */
    async close(): Promise<void> {
      await writing.close();
      await write().catch(failed);
    },
  };
}
