/** The history of a row in words. */
import { wrongUse } from '../base/errors.ts';
import { type Hints, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import { readRun } from '../engine/ledger/runs.ts';
import {
  type RowAttempt,
  type RowInput,
  type RowStory,
  type RowVerdict,
  readRowStory,
} from '../engine/ledger/views/row-story.ts';
import { quote } from '../settings/message-parts.ts';
import type { Queryable } from '../storage/queryable.ts';
import { formatTook } from './format.ts';
import { hintsFor } from './hints.ts';

/** A row of a run; `row` as for `readRowStory`. @throws LockstepError RUN_UNKNOWN or ROW_UNKNOWN, exit code 2 */
export async function findRow(db: Queryable, runId: string, row: string, hint: (command: string) => string) {
  const run = await readRun(db, runId);
  const story = await readRowStory(db, run.id, row);
  if (story) return { run, story, hints: hintsFor(hint, run) };
  const message = `Run ${run.id} has no row ${quote(row)}: records that have not changed have none. List its rows with: ${hint(`runs export ${run.id} --out -`)}`;
  throw wrongUse(message, 'ROW_UNKNOWN');
}

export const OUTCOME_WORDS: Readonly<Record<RowAttempt['outcome'], string>> = {
  acked: 'applied',
  refused: 'refused',
  unknown: 'unknown outcome',
  lost: 'interrupted, unknown outcome',
  unsent: 'not sent',
};

export const STATE_WORDS: Readonly<Record<RowStory['state'], string>> = {
  staged: 'not decided yet',
  ready: 'to be sent',
  intent: 'being sent',
  acked: 'applied, to be confirmed by a read',
  unknown: 'unknown outcome, to be settled by a read',
  settled: 'settled',
};

export function tookWords(ms: number | null): string {
  if (ms === null) return '';
  return ms < 1_000 ? `${ms} ms` : formatTook(ms);
}

type Pair = readonly [name: string, value: string];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export const pairsOf = (fields: Readonly<Record<string, unknown>> | null) =>
  Object.entries(fields ?? {}).map(([name, value]): Pair => [name, textOf(value)]);

export const cellPairs = (cells: RowInput['cells']) =>
  (cells ?? []).map(({ column, cell }, i): Pair => [column ?? `(column ${i + 1})`, cell]);

/** A row for scripts, with statements and remedies as text. */
export function storyResult(story: RowStory, hints: Hints): object {
  const worded = <T extends RowAttempt | RowVerdict>(one: T) => ({
    ...one,
    statement: statementFor(one.reason, one.facts, hints),
    remedy: remedyFor(one.reason, one.facts, hints) ?? null,
  });
  return {
    ...story,
    attempts: story.attempts.map(worded),
    formerVerdicts: story.formerVerdicts.map(worded),
    verdict: story.verdict && worded(story.verdict),
  };
}
