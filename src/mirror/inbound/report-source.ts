/**
 * Applies reports of outside systems to the service, in parallel with the deliveries, as a source for a dispatcher. Several processes
 * may apply reports; each report has one holder.
 */
import type { Logger } from 'pino';
import type { Repeated } from '../../base/repeat.ts';
import { systemClock } from '../../engine/dispatch/clock.ts';
import { keepDispatching } from '../../engine/dispatch/keep-dispatching.ts';
import type { SendHow, Sent, Source } from '../../engine/dispatch/source.ts';
import type { TargetAccess } from '../../engine/worker/job.ts';
import { type ApplyNeeds, applyReport, type ReportOutcome, recordReport } from './apply-report.ts';
import { openedOnce } from './opened-once.ts';
import { holdOf, keepHolding, letGo, type Report, takeDue } from './waiting-reports.ts';

/** Reports that a dead process held are due again after this. */
export const HOLD_MS = 60 * 1000;

export interface ReportSourceNeeds extends ApplyNeeds {
  /** The targets whose reports it applies. */
  readonly names: readonly string[];
  /** Only reports from reads of these runs; default: all reports. */
  readonly runs?: () => readonly string[] | undefined;
  readonly log: Logger;
}

/** The claim of a dispatcher. Each report is held separately, so that it can be taken over separately. */
type Held = Map<string, Report>;

export function reportSource(needs: ReportSourceNeeds): Source<Held, Report, ReportOutcome> {
  const { pool, names, log } = needs;

  async function send(report: Report, { signal }: SendHow): Promise<Sent<ReportOutcome, never>> {
    try {
      const outcome = await applyReport({ ...needs, signal: AbortSignal.any([needs.signal, signal]) }, report);
      return { outcome };
    } catch (error) {
      // A defect is not retried at once.
      log.error({ err: error, target: report.target, item: report.itemId }, 'a report could not be applied');
      const detail = 'a defect in Lockstep: see the log of the worker';
      const wait = { afterMs: HOLD_MS, reason: 'BROKE_OFF', detail, isSpent: false };
      return { outcome: { report, status: 'put-off', wait, keeps: [] } };
    }
  }

  return {
    takeClaim: async () => new Map(),
    async renew(held) {
      const asked = [...held];
      const kept = await keepHolding(
        pool,
        asked.map(([, report]) => report),
        HOLD_MS,
      );
      return asked.every(([hold]) => kept.has(hold) || !held.has(hold)); // or it was recorded meanwhile
    },
    async claim(held, limit) {
      const due = await takeDue(pool, names, { limit, holdMs: HOLD_MS, runs: needs.runs?.() });
      for (const report of due) held.set(holdOf(report), report);
      return due;
    },
    send,
    unsent: (report) => ({ report, status: 'unsent' }),
    async record(held, outcomes) {
      for (const outcome of outcomes) {
        const hold = holdOf(outcome.report);
        if (!held.delete(hold)) continue; // recorded by an earlier try
        try {
          await recordReport(pool, outcome);
        } catch (error) {
          held.set(hold, outcome.report);
          throw error;
        }
      }
      return { status: 'recorded' };
    },
    drop: (held) => letGo(pool, [...held.values()]),
  };
}

const AT_ONCE = 4;

/** `syncs`: all syncs of the settings, because an item may be linked with tasks of several. */
export interface ReportingNeeds extends Omit<ReportSourceNeeds, 'target' | 'filterOf' | 'random' | 'signal'> {
  readonly targets: TargetAccess;
}

export function startReporting(needs: ReportingNeeds): Repeated {
  const closing = new AbortController();
  const { signal } = closing;
  const opened = openedOnce(needs.targets);

  const { filterOf } = needs.targets;
  const source = reportSource({ ...needs, target: opened.open, filterOf, random: Math.random, signal });
  const working = keepDispatching(source, {
    ttlMs: HOLD_MS,
    timeoutMs: 0,
    concurrency: AT_ONCE,
    portion: { least: AT_ONCE, most: AT_ONCE },
    gatherMs: 0,
    clock: systemClock,
    signal,
    log: needs.log,
  });
  return {
    async close() {
      closing.abort();
      await working;
      await opened.closeAll();
    },
  };
}
