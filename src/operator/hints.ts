/** Prints reasons with commands that can be pasted. */
import type { Hints } from '../base/reasons/reasons.ts';
import { shellWord } from '../base/reasons/template.ts';
import { isOfOtherTenant, isUnconfirmed } from '../engine/ledger/run-remedy.ts';
import type { Run } from '../engine/ledger/runs.ts';

/** `hint` adds the --config and --data of this command to a command. */
export function hintsFor(hint: (command: string) => string, run: Run): Hints {
  const { id, account, planId } = run;
  const plan = planId !== undefined && { plan: planId };
  return {
    command: hint,
    about: { run: id, account, again: againWords(run), unconfirmed: isUnconfirmed(run), ...plan },
  };
}

/** The command that works on the rows again which are not done. */
export function againCommand(run: Run): string {
  return againWords(run).map(shellWord).join(' ');
}

function againWords({ id, status, type, sync, account, dryRun, partOf, errorCode }: Run): readonly string[] {
  const isLost = isOfOtherTenant({ status, errorCode });
  if (status !== 'done' && status !== 'cancelled' && !dryRun && !isLost) return ['runs', 'resume', partOf ?? id];
  if (partOf !== undefined) return ['runs', 'retry', partOf];
  if (type !== 'orders') return ['run', sync];
  return dryRun || isLost ? ['orders', 'load', 'FILE', '--account', account] : ['runs', 'retry', id];
}
