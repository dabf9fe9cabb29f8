/** The phases of runs, in words. */
import { absenceAfterMs } from '../base/absence.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { PhaseTimes, RunWait } from '../engine/ledger/views/run-phases.ts';
import { formatTook } from './format.ts';

const PHASES: Readonly<Record<string, { readonly words: string; readonly kind: 'reading' | 'sending' | 'settling' }>> =
  {
    'scan-contacts': { words: 'reading contacts', kind: 'reading' },
    'import-customers': { words: 'sending', kind: 'sending' },
    'settle-customers': { words: 'reading back what was sent', kind: 'settling' },
    'watch-orders': { words: 'watching the folder', kind: 'reading' },
    'load-orders': { words: 'reading customers and orders', kind: 'reading' },
    'create-orders': { words: 'sending', kind: 'sending' },
    'settle-orders': { words: 'reading back what was sent', kind: 'settling' },
    'scan-tasks': { words: 'reading tasks', kind: 'reading' },
    'read-items': { words: 'reading the items of targets', kind: 'reading' },
    'deliver-status': { words: 'delivering', kind: 'settling' },
    'audit-list': { words: 'checking rows that were sent again', kind: 'reading' },
  };

/** What a run in this phase does. */
export function phaseWords(phase: string | undefined): string {
  return phase === undefined ? 'finishing' : (PHASES[phase]?.words ?? phase.replaceAll('-', ' '));
}

export function phaseKind({ phase }: Pick<Run, 'phase'>): 'reading' | 'sending' | 'settling' {
  return PHASES[phase ?? '']?.kind ?? 'reading';
}

/** When every row that was sent is settled, or sent again: `at most 2 min after the last call`. */
export function settledWords(settleMs: number): string {
  return `at most ${formatTook(absenceAfterMs(settleMs))} after the last call`;
}

const PHASES_OF: Readonly<Record<string, readonly string[]>> = {
  contacts: ['scan-contacts', 'import-customers', 'settle-customers'],
  orders: ['load-orders', 'create-orders', 'settle-orders'],
  tasks: ['scan-tasks', 'deliver-status'],
};

/** Whether the run watches a folder: its rows are files, and other runs load them. */
export function watchesFolder({ type, options }: Pick<Run, 'type' | 'options'>): boolean {
  return type === 'orders' && 'folder' in options;
}

/** The phases of a run in their order; those that only some runs of its type have follow the first one. A dry run only reads. */
export function phasesOf(
  run: Pick<Run, 'type' | 'phase' | 'dryRun' | 'options'>,
  times: readonly PhaseTimes[],
): readonly string[] {
  if (watchesFolder(run)) return ['watch-orders'];
  const usual = (PHASES_OF[run.type] ?? []).slice(0, run.dryRun ? 1 : undefined);
  const had = [...times.map(({ phase }) => phase), ...(run.phase === undefined ? [] : [run.phase])];
  const others = had.filter((phase) => !usual.includes(phase));
  return [...new Set([...usual.slice(0, 1), ...others, ...usual.slice(1)])];
}

/** Shorter waits are left out of lists: they would be `0.0 s`. */
const SHOWN_MS = 100;

/** What a phase waited for, with what is over: `5 min 20 s waiting for approval`. Without what it waits for now. */
export function waitsOf({ waits }: PhaseTimes): readonly string[] {
  return waits
    .filter(({ tookMs }) => tookMs >= SHOWN_MS)
    .map((wait) => `${formatTook(wait.tookMs)} ${waitWords(wait)}`);
}

function waitWords({ for: what, code, run }: RunWait): string {
  switch (what) {
    case 'approval':
      return 'waiting for approval';
    case 'run':
      return `waiting for run ${run}`;
    case 'account':
      return 'while its account was suspended';
    case 'retry':
      return 'retrying after failures';
    case 'worker':
      return 'without a worker';
    default:
      return `${what} (${code})`;
  }
}
