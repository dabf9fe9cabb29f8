/** Prints reasons with commands that can be pasted. */

import type { Hints } from '../base/reasons/reasons.ts';
import type { Run } from '../engine/ledger/runs.ts';

/** `hint` adds the --config and --data of this command to a command. */
export function hintsFor(hint: (command: string) => string, { id, account }: Pick<Run, 'id' | 'account'>): Hints {
  return { command: hint, about: { run: id, account } };
}
