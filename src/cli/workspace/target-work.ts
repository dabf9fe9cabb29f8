/** The targets of the settings in one process: opened for jobs, delivered to, and asked for reports. */

import { thisHolder } from '../../base/process-identity.ts';
import type { Target } from '../../contract/target.ts';
import type { Accounts } from '../../engine/account/accounts.ts';
import { useAccount } from '../../engine/account/suspension.ts';
import type { Runner } from '../../engine/worker/runner.ts';
import { overwriting } from '../../mirror/inbound/changed-there.ts';
import { startReporting } from '../../mirror/inbound/report-source.ts';
import { type DeliveringNeeds, startDelivering } from '../../mirror/outbox/delivering.ts';
import { type OpenTargets, openTargets, type TargetsNeeds } from '../../mirror/targets/open-targets.ts';
import { type Settings, targetNamed } from '../../settings/settings.ts';

export interface TargetWork {
  /** Opens a target as the settings are now; the caller closes it. */
  open(name: string): Promise<Target>;
  filterOf: OpenTargets['filterOf'];
  /** Delivers to these targets, and applies what they report, until closed. Targets that are served already stay so. */
  deliver(names: readonly string[], runner: Pick<Runner, 'worker' | 'attended'>): void;
  /**
   * Finishes what is in flight and stops delivering; after that targets are opened from the settings as they are then. Jobs
   * keep the targets they have opened.
   */
  renew(): Promise<void>;
  /** Finishes what is in flight and stops delivering. */
  stopDelivering(): Promise<void>;
  /** Closes the budgets; call it when the targets are closed. */
  close(): Promise<void>;
}

type Needs = Omit<TargetsNeeds, 'settings' | 'holder' | 'accounts'> &
  Pick<DeliveringNeeds, 'pool' | 'log' | 'onAttempt'> & {
    readonly accounts: Accounts;
    readonly settings: () => Settings;
  };

export function createTargetWork(needs: Needs): TargetWork {
  const { pool, log, accounts, onAttempt, settings } = needs;
  const usable = { use: (name: string) => useAccount({ pool, accounts, log }, name) };
  const openNow = (): OpenTargets =>
    openTargets({ ...needs, accounts: usable, holder: thisHolder, settings: settings().targets });
  const opened = [openNow()];
  let targets = opened[0] as OpenTargets; // safe: of one
  const served = new Set<string>();
  let atWork: { close(): Promise<void> }[] = [];

  async function stopDelivering(): Promise<void> {
    const stopping = atWork;
    atWork = [];
    served.clear();
    await Promise.all(stopping.map((part) => part.close()));
  }

  return {
    open: (name) => targets.open(name),
    filterOf: (name) => targets.filterOf(name),
    deliver(wanted, { worker, attended: runs }) {
      for (const name of wanted) targetNamed(settings(), name);
      const names = wanted.filter((name) => !served.has(name));
      if (names.length === 0) return;
      for (const name of names) served.add(name);
      const { open } = targets;
      // Twice the calls in flight: the other half waits at the target's budget, so that every token is used at once.
      const concurrencyOf = (name: string) => 2 * targets.concurrencyOf(name);
      const syncs = Object.values(settings().syncs).filter((sync) => sync.type === 'tasks');
      const hasHook = (name: string) => {
        const target = settings().targets[name];
        return target !== undefined && 'hookSecret' in target && target.hookSecret !== undefined;
      };
      const mayOverwrite = overwriting({ pool, syncs, hasHook });
      atWork.push(
        startDelivering({ pool, worker, runs, targets: { open, concurrencyOf }, names, onAttempt, mayOverwrite, log }),
        startReporting({ pool, accounts, syncs, targets, names, runs, log }),
      );
    },
    async renew() {
      await stopDelivering();
      targets = openNow();
      opened.push(targets);
    },
    stopDelivering,
    async close() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}
