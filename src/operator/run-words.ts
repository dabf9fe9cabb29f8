/** A run in a few words: its counts, the tone of its state, and the proof of its scan. */
import { VERDICTS, type Verdict } from '../engine/ledger/rows.ts';
import type { Unsettled } from '../engine/ledger/unsettled.ts';
import type { RunReport } from './run-result.ts';
import type { RunState } from './run-state.ts';
import { formatCount } from './words.ts';

/** How a state is shown: a colour of the terminal and of the console. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim';

export const STYLE_OF: Readonly<Record<RunState, Tone>> = {
  queued: 'dim',
  running: 'good',
  interrupted: 'warn',
  waiting: 'dim',
  'awaiting-approval': 'warn',
  paused: 'warn',
  auditing: 'good',
  done: 'good',
  failed: 'bad',
  'not-approved': 'dim',
  cancelled: 'dim',
};

export const SCAN_WORDS = {
  proven: 'proven: no record that existed during the whole scan was missed',
  weak: 'weak: two passes agree, and this list allows no stronger proof',
  unproven: 'unproven: records may have been missed',
} as const;

const PLANNED: Partial<Record<Verdict, string>> = { created: 'would be created', updated: 'would be updated' };

/** `1,790 created, 180 existing, …`: the verdicts that occur, for one line of a list. */
export function countsLine({
  counts,
  unsettled,
  dryRun = false,
}: Pick<RunReport, 'counts' | 'unsettled'> & Partial<Pick<RunReport, 'dryRun'>>): string {
  const parts = VERDICTS.filter((verdict) => verdict !== 'unknown' && counts[verdict] > 0).map(
    (verdict) => `${formatCount(counts[verdict])} ${plannedWord(verdict, dryRun) ?? verdict}`,
  );
  return [...parts, ...unsettledParts(unsettled)].join(', ') || 'nothing';
}

/** What a dry run counts as created or updated. */
export function plannedWord(verdict: Verdict, isDryRun: boolean): string | undefined {
  return isDryRun ? PLANNED[verdict] : undefined;
}

function unsettledParts({ sent = 0, neverSent = 0 }: Partial<Unsettled> = {}): readonly string[] {
  return [
    ...(sent > 0 ? [`${formatCount(sent)} sent, not confirmed`] : []),
    ...(neverSent > 0 ? [`${formatCount(neverSent)} never sent`] : []),
  ];
}
