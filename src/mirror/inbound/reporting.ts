/** Applies reports of outside systems to the service, in parallel with the deliveries. */
import { systemClock } from '../../engine/dispatch/clock.ts';
import { keepDispatching } from '../../engine/dispatch/keep-dispatching.ts';
import type { TargetAccess } from '../../engine/worker/job.ts';
import { openedOnce } from './opened-once.ts';
import { HOLD_MS, type ReportSourceNeeds, reportSource } from './report-source.ts';

const AT_ONCE = 4;

/** `syncs`: all syncs of the settings, because an item may be linked with tasks of several. */
export interface ReportingNeeds extends Omit<ReportSourceNeeds, 'target' | 'filterOf' | 'random' | 'signal'> {
  readonly targets: TargetAccess;
}

export interface Reporting {
  /** Finishes what is in flight. Idempotent. */
  close(): Promise<void>;
}

export function startReporting(needs: ReportingNeeds): Reporting {
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
