/**
 * Brings what outside systems report into the service, beside the courier that goes the other way. Any number of
 * processes may do so; a report is one's at a time.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Clock, createBell, systemClock } from '../deliveries/clock.ts';
import type { TasksSync } from '../settings/settings.ts';
import type { Target } from '../targets/target.ts';
import type { Accounts } from '../worker/accounts.ts';
import { applyReport } from './apply.ts';
import { pruneHooks } from './inbox.ts';
import { keepHolding, type Report, takeDue } from './waiting.ts';

const LOOK_MS = 500;
const AT_ONCE = 4;
/** Renewed while it is worked on: what a dead process held is due again after this. */
const HOLD_MS = 60 * 1000;
const RENEW_MS = HOLD_MS / 3;
/** What takes longer is broken off. */
const LONGEST_MS = 5 * 60 * 1000;
const PRUNE_MS = 24 * 60 * 60 * 1000;

export interface ReportingNeeds {
  readonly pool: pg.Pool;
  readonly accounts: Pick<Accounts, 'open'>;
  /** All of the settings: an item may stand for tasks of several. */
  readonly syncs: readonly TasksSync[];
  readonly targets: { open(name: string): Promise<Target> };
  /** The targets whose reports it applies. */
  readonly names: readonly string[];
  /** Only what reads of these runs have reported; default: whatever was reported. */
  readonly runs?: () => readonly string[] | undefined;
  readonly log: Logger;
  readonly clock?: Clock;
}

export interface Reporting {
  /** Finishes what is under way. Idempotent. */
  close(): Promise<void>;
}

export function startReporting(needs: ReportingNeeds): Reporting {
  const { pool, names, log, clock = systemClock } = needs;
  const closing = new AbortController();
  const bell = createBell(clock);
  const opened = new Map<string, Promise<Target>>();

  function open(name: string): Promise<Target> {
    const known = opened.get(name);
    if (known) return known;
    const opening = needs.targets.open(name);
    opened.set(name, opening);
    opening.catch(() => opened.delete(name)); // the next one tries again: a secret may have come
    return opening;
  }

  async function apply(report: Report): Promise<void> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(LONGEST_MS)]);
    const renewing = setInterval(() => {
      keepHolding(pool, report, HOLD_MS).catch((error: unknown) =>
        log.warn({ err: error }, 'a report was not held on'),
      );
    }, RENEW_MS);
    try {
      await applyReport({ ...needs, target: open, random: Math.random, signal }, report);
    } catch (error) {
      // Held until its time is over: a defect is not tried again at once.
      log.error({ err: error, target: report.target, item: report.itemId }, 'a report could not be applied');
    } finally {
      clearInterval(renewing);
    }
  }

  async function run(): Promise<void> {
    let prunedAtMs = Number.NEGATIVE_INFINITY;
    while (!closing.signal.aborted) {
      let taken = 0;
      try {
        const due = await takeDue(pool, names, { limit: AT_ONCE, holdMs: HOLD_MS, runs: needs.runs?.() });
        taken = due.length;
        await Promise.all(due.map(apply));
        if (clock.nowMs() - prunedAtMs >= PRUNE_MS) {
          prunedAtMs = clock.nowMs();
          await pruneHooks(pool);
        }
      } catch (error) {
        log.warn({ err: error }, 'reports of outside systems could not be looked for');
      }
      if (taken < AT_ONCE) await bell.wait(LOOK_MS);
    }
  }

  const running = run();
  let closed: Promise<void> | undefined;
  return {
    close() {
      closed ??= (async () => {
        closing.abort();
        bell.ring();
        await running;
        await Promise.all([...opened.values()].map(async (opening) => (await opening).close()));
      })();
      return closed;
    },
  };
}
