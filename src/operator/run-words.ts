/** A run in a few words: its counts, the tone of its state, and the proof of its scan. */
import { formatCount, plural } from '../base/counts.ts';
import { VERDICTS, type Verdict } from '../engine/ledger/rows.ts';
import { noteWords, type Run } from '../engine/ledger/runs.ts';
import type { RunReport, RunState } from './report.ts';
import { problemsIn } from './run-report.ts';

/** How a state is shown: a colour of the terminal and of the console. */
export type Tone = 'good' | 'bad' | 'warn' | 'dim';

const STYLE_OF: Readonly<Record<RunState, Tone>> = {
  receiving: 'good',
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

/** A run that is done is good only if nothing in it needs a person, as its exit code says. */
export function styleOf({ state, counts, scan }: Pick<RunReport, 'state' | 'counts' | 'scan'>): Tone {
  return state === 'done' && (problemsIn(counts) > 0 || scan === 'unproven') ? 'warn' : STYLE_OF[state];
}

export const SCAN_WORDS = {
  proven: 'proven: no record that the list showed during the whole scan was missed',
  weak: 'weak: two passes agree, or one has as many records as the service reports; this list allows no stronger proof',
  unproven: 'unproven: records may have been missed',
} as const;

const PLANNED: Partial<Record<Verdict, string>> = { created: 'would be created', updated: 'would be updated' };

type Counted = Pick<RunReport, 'counts'> &
  Partial<Pick<RunReport, 'type' | 'unsettled' | 'callsMissed' | 'decided' | 'state' | 'dryRun'>>;

/** Rows with one result, as people read it. */
export interface CountPart {
  readonly verdict: Verdict;
  readonly count: number;
  readonly words: string;
}

/** The results that occur; their counts add up to all rows. Rows without a verdict are in two parts: may have arrived, and not sent. */
export function countParts(report: Counted): readonly CountPart[] {
  const { counts, type = '', dryRun = false, unsettled: { sent = 0, neverSent = 0 } = {} } = report;
  const settled = VERDICTS.filter((verdict) => verdict !== 'unknown').map((verdict) => ({
    verdict,
    count: counts[verdict],
    words: verdictWords(verdict, { type, dryRun }) + (verdict === 'review' ? decidedPart(report) : ''),
  }));
  const open = [
    { verdict: 'unknown', count: sent, words: unconfirmedWords(report) },
    { verdict: 'unknown', count: neverSent, words: unsentWords(report) },
  ] as const;
  return [...settled, ...open].filter(({ count }) => count > 0);
}

/** `1,790 created, 180 existing, …`, for one line of a list. */
export function countsLine(report: Counted): string {
  return (
    countParts(report)
      .map(({ count, words }) => `${formatCount(count)} ${words}`)
      .join(', ') || 'no rows'
  );
}

/** What a dry run counts as created or updated. */
export function plannedWord(verdict: Verdict, isDryRun: boolean): string | undefined {
  return isDryRun ? PLANNED[verdict] : undefined;
}

/** No one decides about changes of tasks: they are delivered, or not. */
function undeliveredWord(verdict: Verdict, type: string): string | undefined {
  return verdict === 'review' && type === 'tasks' ? 'not delivered' : undefined;
}

/** Of rows in review: ` (3 of them decided)`. */
function decidedPart({ counts, decided = 0 }: Counted): string {
  if (decided === 0) return '';
  return decided < counts.review ? ` (${formatCount(decided)} of them decided)` : ' (decided)';
}

/**
 * Of rows that may have arrived: while a run sends, some of them still wait for the budget; a process that was killed leaves rows
 * of which no one knows whether they were sent.
 */
export function unconfirmedWords({
  callsMissed = false,
  state,
}: Partial<Pick<RunReport, 'callsMissed' | 'state'>>): string {
  if (callsMissed || state === 'interrupted') return 'sent, or perhaps sent, not confirmed';
  return state === 'running' || state === 'waiting' ? 'being sent, or not confirmed' : 'sent, not confirmed';
}

/** Of rows that were not sent: what they wait for, if the run is unfinished. */
export function unsentWords({ state = 'done' }: Partial<Pick<RunReport, 'state'>>): string {
  if (state === 'awaiting-approval') return 'awaiting approval';
  return ENDED.includes(state) ? 'never sent' : 'not sent yet';
}

const ENDED: readonly RunState[] = ['auditing', 'done', 'failed', 'not-approved', 'cancelled'];

/** What became of rows of a run, as people read it. */
export function verdictWords(verdict: Verdict, { type, dryRun }: Pick<RunReport, 'type' | 'dryRun'>): string {
  return plannedWord(verdict, dryRun) ?? undeliveredWord(verdict, type) ?? VERDICT_WORDS[verdict];
}

const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  created: 'created',
  updated: 'updated',
  unchanged: 'unchanged',
  existing: 'existing',
  invalid: 'invalid (never sent)',
  rejected: 'rejected',
  review: 'in review',
  unknown: 'not settled',
};

/** What its number of calls says: a run without calls that waits for its service, or gave up, has had no answer. */
export function callWords(
  { calls, callsMissed, error }: Pick<RunReport, 'calls' | 'callsMissed' | 'error'>,
  { failingSince }: Pick<Run, 'failingSince'>,
): string {
  if (callsMissed) return 'counted; more were made: a process was killed, or a read got no usable answer';
  const isUnanswered = calls === 0 && (failingSince !== undefined || error?.code === 'SERVICE_AWAY');
  return isUnanswered ? 'reached the service' : 'made';
}

/** The notes of a run that are not `said` beside them, such as in its error. */
export function notesBeside({ notes }: Pick<Run, 'notes'>, said: readonly (string | undefined)[]): readonly string[] {
  return notes
    .filter((note) => !said.some((message) => message?.includes(noteWords(note))))
    .map((note) => note.replace(/\.+$/, ''));
}

/** Contacts that a filter leaves out, which are no rows; a load has a note about its filter. */
export function leftOutWords({ leftOut }: Pick<RunReport, 'leftOut'>): readonly string[] {
  if (!leftOut || 'orders' in leftOut) return [];
  const { contacts, linked } = leftOut;
  if (contacts === 0) return ['The filter (where) leaves out no contact.'];
  const were =
    linked === 1 ? 'was imported before, and its customer stays' : 'were imported before, and their customers stay';
  const before =
    linked === 0 ? '' : `; ${formatCount(linked)} of them ${were} as ${linked === 1 ? 'it is' : 'they are'}`;
  return [`The filter (where) leaves out ${plural(contacts, 'contact')}${before}.`];
}

type Decidable = Pick<RunReport, 'type' | 'status' | 'dryRun' | 'decided'>;

/** Why no one can decide about rows in review of this run now; undefined if they can be decided, or never need it. */
export function undecidableWords({ type, status, dryRun, decided }: Decidable): string | undefined {
  if (dryRun && type !== 'tasks')
    return 'A dry run only shows them: they can be decided once a run that writes is done.';
  if (status === 'done' || decided === undefined) return undefined;
  if (status !== 'cancelled') return 'They can be decided once the run is done.';
  return `They can be decided once ${type === 'orders' ? 'the load was retried' : 'the sync has run again'}.`;
}
