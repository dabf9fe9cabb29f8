/** Records how this process uses the budget of each account, minute by minute, for the pages that show it. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CallEvent } from '../../client/call/client.ts';
import { addBudgetUse } from '../ledger/scopes/budget-minutes.ts';
import { scopeNamed } from '../ledger/scopes/scopes.ts';
import type { Accounts } from './accounts.ts';

export interface BudgetRecorder {
  /** Receives each call that the budget granted. */
  called(account: string, event: CallEvent): void;
  /** Writes what is not written yet, and stops. Idempotent. */
  close(): Promise<void>;
}

interface RecorderNeeds {
  readonly pool: pg.Pool;
  readonly budgets: Accounts['budgets'];
  readonly log: Logger;
}

/** A crash loses at most this much of the record. */
const EVERY_MS = 5_000;

export function recordBudgets({ pool, budgets, log }: RecorderNeeds): BudgetRecorder {
  const closing = new AbortController();
  const { signal } = closing;
  const used = new Map<string, { calls: number; limited: number; waitedMs: number }>();

  async function write(): Promise<void> {
    const taken = [...used];
    used.clear();
    for (const [account, use] of taken) {
      const { ratePerSecond: perSecond } = budgets().get(account) ?? {};
      await addBudgetUse(pool, await scopeNamed(pool, account), { ...use, perSecond });
    }
  }
  const writing = (async () => {
    while (!signal.aborted) {
      await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      await write().catch((error: unknown) => log.debug({ err: error }, 'the use of budgets was not recorded'));
    }
  })();

  return {
    called(account, { outcome, waitedMs }) {
      const use = used.get(account) ?? { calls: 0, limited: 0, waitedMs: 0 };
      use.calls++;
      use.waitedMs += waitedMs;
      if (outcome.status === 'limited') use.limited++;
      used.set(account, use);
    },
    async close() {
      closing.abort();
      await writing;
    },
  };
}
