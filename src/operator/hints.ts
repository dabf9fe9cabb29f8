/** Prints reasons with commands that can be pasted. */
import type { Hints } from '../base/reasons/reasons.ts';
import type { Run } from '../engine/ledger/runs.ts';

/** `hint` adds the --config and --data of this command to a command. */
export function hintsFor(hint: (command: string) => string, run: Run): Hints {
  const { id, account, planId } = run;
  const plan = planId !== undefined && { plan: planId };
  return { command: hint, about: { run: id, account, again: againCommand(run), ...plan } };
}

/** The words of the command that works on the rows again which are not done. */
function againCommand({ id, status, type, sync, account, dryRun, partOf }: Run): readonly string[] {
  if (status !== 'done' && status !== 'cancelled' && !dryRun) return ['runs', 'resume', partOf ?? id];
  if (partOf !== undefined) return ['runs', 'retry', partOf];
  if (type !== 'orders') return ['run', sync];
  return dryRun ? ['orders', 'load', 'FILE', '--account', account] : ['runs', 'retry', id];
}
