/** The history of a row in words. */
import { type Hints, remedyFor, statementFor } from '../base/reasons/reasons.ts';
import type { RowAttempt, RowStory, RowVerdict } from '../engine/ledger/views/row-story.ts';

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
