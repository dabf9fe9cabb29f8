/** The progress of a run in one line, computed from earlier reads of the ledger. */
import { formatCount, plural } from '../../base/counts.ts';
import type { BudgetStats } from '../../client/budget/budget.ts';
import type { RowsLeft } from '../../engine/ledger/rows.ts';
import { noteWords, type Run } from '../../engine/ledger/runs.ts';
import { waitsFor } from '../../engine/ledger/waiting-runs.ts';
import { formatShare, formatTook } from '../../operator/format.ts';
import { phaseKind, phaseWords, settledWords, watchesFolder } from '../../operator/phase-words.ts';

/** The key of an account, for all processes together. */
export type KeyNow = Pick<BudgetStats, 'blockedForMs' | 'learntPerSecond'>;

export interface Look {
  /** On a monotonic clock. */
  readonly atMs: number;
  /** The run, or its part that works for it now. */
  readonly run: Run;
  readonly left: RowsLeft;
  /** Undefined if this process does not use the key. */
  readonly key: KeyNow | undefined;
  /** Of its account; undefined for a run that only delivers. */
  readonly settleMs?: number | undefined;
}

/** The rate of calls is computed over this time. */
const RATE_WINDOW_MS = 4_000;
const MIN_RATE_SPAN_MS = 1_000;
const MINUTE = 60_000;
/** A shorter wait for the rate limit is not shown. A longer one is rounded up to a multiple of this, or to minutes. */
const LONG_BLOCK_MS = 10_000;

/** The looks of the last RATE_WINDOW_MS and a new one. */
export function withLook(looks: readonly Look[], look: Look): readonly Look[] {
  return [...looks.filter(({ atMs }) => atMs > look.atMs - RATE_WINDOW_MS), look];
}

/**
 * `looks`: the reads of the last RATE_WINDOW_MS, the newest last; undefined if there are none. On a terminal of `columns`, with
 * a bar while the end is known, and without the parts that do not fit.
 */
export function progressLine(
  looks: readonly Look[],
  allowedPerSecond: number | undefined,
  columns?: number,
): string | undefined {
  const look = looks.at(-1);
  if (look === undefined) return undefined;
  const { id, phase } = look.run;
  const ofPhase = looks.filter(({ run }) => run.id === id && run.phase === phase);
  const rate = ratePerSecond(ofPhase, ({ calls }) => calls);
  const done = ratePerSecond(ofPhase, ({ calls, limited }) => calls - limited);
  const other = waitsFor(look.run);
  const doing = phaseWords(phase);
  const words = other === undefined ? doing : `waiting for run ${other}`;
  const [rows, failure] = [rowsPart(look), [...limitPart(ofPhase, look, allowedPerSecond), ...failurePart(look)]];
  const left = leftPart(look, done && Math.min(done, allowedPerSecond ?? done));
  const line = (...parts: readonly (readonly string[])[]) => `${partWords(look)}${parts.flat().join(' · ')}`;
  const full = line([words], rows, ratePart(rate, allowedPerSecond), left, failure);
  if (columns === undefined) return full;
  const [bar, short] = [barPart(look, 20), barPart(look, 10)];
  const shorter = [
    line(bar, [words], rows, ratePart(rate, allowedPerSecond), left, failure),
    line(bar, [words], rows, ratePart(rate, undefined), left, failure),
    line(bar, rows, ratePart(rate, undefined), left, failure),
    line(short, rows, ratePart(rate, undefined), left, failure),
    ...(short.length > 0 ? [line(short, ratePart(rate, undefined), left, failure)] : []),
  ];
  return shorter.find(({ length }) => length < columns) ?? line(bar, rows, left, failure);
}

/** `█████░░░░░  25%` of the rows to send; nothing while their number is not known. */
function barPart({ run, left: { planned, toSend } }: Look, width: number): readonly string[] {
  if (phaseKind(run) !== 'sending' || planned === 0) return [];
  const share = (planned - toSend) / planned;
  const full = Math.floor(share * width);
  return [`${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(Math.floor(share * 100)).padStart(3)}%`];
}

/** A part creates the missing customers of a load. */
function partWords({ run }: Look): string {
  return run.partOf === undefined ? '' : 'customers: ';
}

function ratePerSecond(looks: readonly Look[], count: (run: Run) => number): number | undefined {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined || last.atMs - first.atMs < MIN_RATE_SPAN_MS) return undefined;
  return ((count(last.run) - count(first.run)) * 1_000) / (last.atMs - first.atMs);
}

function rowsPart({ run, left, settleMs }: Look): readonly string[] {
  switch (phaseKind(run)) {
    case 'sending':
      return [`${formatCount(left.planned - left.toSend)} of ${formatCount(left.planned)} sent`];
    case 'settling':
      return [`${formatCount(left.toSettle)} to settle${settleMs === undefined ? '' : `, ${settledWords(settleMs)}`}`];
    default:
      return watchesFolder(run) ? [] : [plural(run.rowsSeen, 'row')];
  }
}

function ratePart(rate: number | undefined, allowedPerSecond: number | undefined): readonly string[] {
  if (rate === undefined || rate === 0) return [];
  if (allowedPerSecond === undefined) return [callsPerSecond(rate)];
  const isBurst = Math.round((100 * rate) / allowedPerSecond) > 100;
  const share = isBurst ? 'with the burst of the budget' : `${formatShare(rate / allowedPerSecond)} of the budget`;
  return [`${callsPerSecond(rate)} (${share})`];
}

const callsPerSecond = (rate: number): string => `${rate < 10 ? rate.toFixed(1) : formatCount(rate)} calls/s`;

/** What the service's rate limit does to the run now. Rounded, because a line is written for each change. */
function limitPart(
  looks: readonly Look[],
  { run, key }: Look,
  allowedPerSecond: number | undefined,
): readonly string[] {
  const { blockedForMs = 0, learntPerSecond } = key ?? {};
  if (blockedForMs >= LONG_BLOCK_MS) {
    const unit = blockedForMs > MINUTE ? MINUTE : LONG_BLOCK_MS;
    return [`waiting ${tookInSeconds(Math.ceil(blockedForMs / unit) * unit)} for the rate limit`];
  }
  if (allowedPerSecond !== undefined && learntPerSecond !== undefined)
    return [`slowed down by the service to ${callsPerSecond(learntPerSecond)}`];
  return run.limited > (looks[0]?.run.limited ?? 0) ? ['the service said "slow down"'] : [];
}

/** Known only while rows are sent, one call each; calls that the service refuses with a rate limit send no row. */
function leftPart({ run, left: { toSend }, key }: Look, rate: number | undefined): readonly string[] {
  if (
    (key?.blockedForMs ?? 0) >= LONG_BLOCK_MS ||
    phaseKind(run) !== 'sending' ||
    rate === undefined ||
    rate < 0.1 ||
    toSend === 0
  )
    return [];
  return [`about ${tookInSeconds(Math.ceil(toSend / rate) * 1_000)} left`];
}

/** `ms`: of whole seconds. */
function tookInSeconds(ms: number): string {
  return formatTook(ms).replace('.0 s', ' s');
}

/** The newest note, while calls fail or before the first one was answered. */
function failurePart({ run }: Look): readonly string[] {
  const note = run.notes.at(-1);
  if (note === undefined || (run.failingSince === undefined && run.calls > 0)) return [];
  return [run.failingSince === undefined ? note : noteWords(note)];
}
