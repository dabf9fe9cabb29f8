/** Prints reasons with commands that can be pasted. */

import { type Hints, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import type { ReportedRow } from '../engine/ledger/rows.ts';
import type { Run } from '../engine/ledger/runs.ts';

/** `hint` adds the --config and --data of this command to a command. */
export function hintsFor(hint: (command: string) => string, { id, account }: Pick<Run, 'id' | 'account'>): Hints {
  return { command: hint, about: { run: id, account } };
}

/** `AMBIGUOUS_MATCH  Jürgen Müller: By e-mail it could be …` */
export function rowLine(row: ReportedRow, hints: Hints): string {
  const statement = statementFor(row.reason, row.facts, hints);
  return `  ${row.reason ?? row.verdict}  ${row.label ?? row.sourceId}${statement === '' ? '' : `: ${statement}`}`;
}

/** The remedies for the reasons of these rows, each once. */
export function remedyLines(rows: readonly ReportedRow[], hints: Hints): readonly string[] {
  const remedies = rows.map(({ reason, facts }) => [reason, remedyFor(reason, facts, hints)] as const);
  const known = remedies.flatMap(([reason, remedy]) => (remedy === undefined ? [] : `  ${reason}: ${remedy}`));
  return [...new Set(known)];
}
