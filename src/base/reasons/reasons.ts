/**
 * Every reason code with its meaning, its sentence and its remedy. The ledger keeps codes and facts; this module turns them
 * into text for people. `docs/reasons.md` is generated from this table.
 */
import { CELL_REASONS } from './cells.ts';
import { FILE_REASONS } from './files.ts';
import { LINK_REASONS } from './links.ts';
import { MIRROR_REASONS } from './mirror.ts';
import type { Cause, Facts, Reason, Reasons } from './reason.ts';
import { ROW_REASONS } from './rows.ts';
import { RUN_REASONS } from './runs.ts';
import { type Filling, fill, lacks, namesIn } from './template.ts';

export const REASON_AREAS = {
  'Rows of contacts, customers and orders': ROW_REASONS,
  'Rows of a CSV that are not valid': CELL_REASONS,
  'Rows of a file of links': LINK_REASONS,
  'Files, and files of a watched folder': FILE_REASONS,
  'Task changes and targets': MIRROR_REASONS,
  'Runs that paused or failed': RUN_REASONS,
} as const satisfies Readonly<Record<string, Reasons>>;

const REASONS = new Map<string, Reason>(Object.values(REASON_AREAS).flatMap((area) => Object.entries(area)));

export interface Hints {
  /** A command to copy, with the --config and --data of this process: `runs show X` → `lockstep runs show X --data D`. */
  command(command: string): string;
  /** Values for commands that are not among the facts: `run`, `account`, `again` and `unconfirmed` (REMEDIES.AGAIN). */
  readonly about?: Facts;
}

export const PLAIN_HINTS: Hints = { command: (command) => `lockstep ${command}` };

/**
 * What a person reads about one row: statement and remedy, for each reason that the facts name. `reason` is null if the row
 * has none. No remedy is added to text from another system (`said`). Empty if there is nothing to say.
 */
export function sentenceFor(reason: string | null, facts: Facts | null, hints: Hints = PLAIN_HINTS): string {
  return sayEach(reason, facts, (code, own) => {
    const remedy = isOwnSaying(code, own) ? undefined : remedyFor(code, own, hints);
    return [statementOf(code, own, hints), remedy ?? ''].join(' ').trim();
  });
}

/** The same without remedies. */
export function statementFor(reason: string | null, facts: Facts | null, hints: Hints = PLAIN_HINTS): string {
  return sayEach(reason, facts, (code, own) => statementOf(code, own, hints));
}

/** What a reason means for any row; undefined if the code is unknown. */
export function meaningOf(reason: string | null): string | undefined {
  return REASONS.get(reason ?? '')?.meaning;
}

/** What to do about a row; undefined if there is nothing to do, or the code is unknown. */
export function remedyFor(reason: string | null, facts: Facts | null, hints: Hints = PLAIN_HINTS): string | undefined {
  const remedy = REASONS.get(reason ?? '')?.remedy;
  return remedy && fill(remedy, fillingOf(facts ?? {}, hints));
}

const SAID = '[{target}: ][Run {load}: ]{said}';
const CHANGE = '[Change: {event}.]';

/** Everything that is wrong with a row: its reason, and further problems of its cells. */
export function causesOf(
  reason: string | null,
  facts: Facts | null,
): readonly { readonly reason: string | null; readonly facts: Facts }[] {
  const { also = [], ...own } = facts ?? {};
  const causes: readonly Cause[] = Array.isArray(also) ? also : [];
  return [{ reason, facts: own }, ...causes.flatMap((cause) => causesOf(cause.code, cause.facts ?? null))];
}

function sayEach(
  reason: string | null,
  facts: Facts | null,
  say: (reason: string | null, facts: Facts) => string,
): string {
  const said = causesOf(reason, facts).map((cause) => say(cause.reason, cause.facts));
  return said.join(' ').trim();
}

function isOwnSaying(reason: string | null, facts: Facts): boolean {
  const template = REASONS.get(reason ?? '')?.sentence;
  if (typeof facts.said !== 'string') return false;
  return template === undefined || !namesIn(template).includes('said') || lacks(template, facts);
}

/** Uses the meaning if a fact that the sentence requires is missing. */
function statementOf(reason: string | null, facts: Facts, hints: Hints): string {
  const filling = fillingOf(facts, hints);
  if (isOwnSaying(reason, facts)) return fill(SAID, filling);
  const entry = REASONS.get(reason ?? '');
  if (entry === undefined) return fill(CHANGE, filling);
  const { sentence, meaning } = entry;
  if (sentence === undefined) return `${positionOf(facts)}${meaning}`;
  const text = lacks(sentence, facts) ? '' : fill(sentence, filling);
  if (text === '') return meaning;
  return `${positionOf(facts)}${text}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** `Line 3, column 2 (Amount) of order A-7: "12,5" `, before the sentence about it. */
function positionOf({ line, lines, columnNumber, column, cell, order }: Facts): string {
  if (line === undefined) return '';
  const place = lines === undefined ? `Line ${line}` : `Lines ${lines}`;
  const of = order === undefined ? '' : ` of order ${order}`;
  if (columnNumber === undefined) return `${place}${of}: ${cell === undefined ? '' : `${JSON.stringify(cell)} `}`;
  const shown = cell === undefined || cell === '' ? '' : `: ${JSON.stringify(cell)}`;
  return `Line ${line}, column ${columnNumber} (${column})${of}${shown} `;
}

function fillingOf(facts: Facts, hints: Hints): Filling {
  return {
    facts: { ...hints.about, ...facts },
    command: hints.command,
    said: (cause) => statementFor(cause.code, cause.facts ?? null, hints),
  };
}
