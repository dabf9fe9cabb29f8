/** The history of a row in words. */
import { type Hints, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import type { RowAttempt, RowInput, RowStory, RowVerdict } from '../engine/ledger/views/row-story.ts';
import { formatTook } from './format.ts';

export const OUTCOME_WORDS: Readonly<Record<RowAttempt['outcome'], string>> = {
  acked: 'accepted',
  refused: 'refused',
  unknown: 'unknown outcome',
  lost: 'interrupted, unknown outcome',
  unsent: 'not sent',
};

export const STATE_WORDS: Readonly<Record<RowStory['state'], string>> = {
  staged: 'not decided yet',
  ready: 'to be sent',
  intent: 'being sent',
  acked: 'accepted, to be confirmed by a read',
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
