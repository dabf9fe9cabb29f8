/** The full history of one row for people: its input, what it was matched with, what was sent, and the result. */

import { type Hints, remedyFor, statementFor } from '../../base/reasons/reasons.ts';
import { visible } from '../../base/visible.ts';
import type { RowAttempt, RowInput, RowStory, RowVerdict } from '../../engine/ledger/views/row-story.ts';
import { formatTime, formatTook } from '../../operator/format.ts';
import { OUTCOME_WORDS, STATE_WORDS } from '../../operator/row-words.ts';
import { table } from './output.ts';

export function storyLines(story: RowStory, hints: Hints): readonly string[] {
  const { run, n, sourceId, label, input, matches, plan, attempts, formerVerdicts, verdict, state } = story;
  const name = label === null || label === sourceId ? '' : `, ${label}`;
  return [
    `Row ${n} of run ${run}: ${isOfSeveralLines(story) ? 'lines ' : ''}${visible(`${sourceId}${name}`)}`,
    ...inputLines(input),
    ...section(
      'Matched with',
      matches.map(({ kind, recordId, by }) => [`${kind} ${recordId}`, `by ${by}`]),
    ),
    ...(plan === null
      ? []
      : section('Plan', [
          [plan.action, plan.recordId === null ? '' : `record ${plan.recordId}`],
          ...pairs(plan.fields),
        ])),
    ...section(
      'Attempts',
      attempts.map((attempt) => attemptCells(attempt, hints)),
    ),
    ...section('Replaced verdicts', formerVerdicts.map(verdictCells)),
    '',
    'Verdict',
    ...(verdict === null ? [`  none yet: ${STATE_WORDS[state]}`] : verdictLines(verdict, hints)),
  ];
}

function isOfSeveralLines({ sourceId, input }: RowStory): boolean {
  return input.cells !== null && /^\d+-\d+$/.test(sourceId);
}

function inputLines({ keys, fields, customer, cells }: RowInput): readonly string[] {
  const cellPairs = (cells ?? []).map(({ column, cell }, i) => [column ?? `(column ${i + 1})`, cell]);
  return [
    ...section(cells === null ? 'Input' : 'Cells of the file', cells === null ? pairs(fields) : cellPairs),
    ...(cells === null ? [] : section('Read as', pairs(fields))),
    ...section('Customer to create', pairs(customer)),
    ...section('Recognised by', pairs(keys)),
  ];
}

function attemptCells({ at, action, outcome, httpStatus, reason, facts, tookMs }: RowAttempt, hints: Hints) {
  return [
    formatTime(new Date(at)),
    action ?? '',
    OUTCOME_WORDS[outcome],
    httpStatus === null ? '' : `HTTP ${httpStatus}`,
    tookMs === null ? '' : tookMs < 1_000 ? `${tookMs} ms` : formatTook(tookMs),
    [reason ?? '', statementFor(reason, facts, hints)].join(' ').trim(),
  ];
}

function verdictCells({ at, verdict, reason, facts }: RowVerdict): readonly string[] {
  return [at === null ? '' : formatTime(new Date(at)), verdict, reason ?? '', statementFor(reason, facts)];
}

function verdictLines({ at, verdict, reason, facts, recordId }: RowVerdict, hints: Hints): readonly string[] {
  const remedy = remedyFor(reason, facts, hints);
  const statement = statementFor(reason, facts, hints);
  return [
    `  ${[verdict, reason ?? ''].join(' ').trim()}${at === null ? '' : `, ${formatTime(new Date(at))}`}`,
    ...(recordId === null ? [] : [`  Record: ${recordId}`]),
    ...(statement === '' ? [] : [`  ${visible(statement)}`]),
    ...(remedy === undefined ? [] : [`  What to do: ${remedy}`]),
  ];
}

function section(title: string, rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const untitled = Array.from({ length: Math.max(...rows.map((cells) => cells.length)) }, () => '');
  const [, ...lines] = table(
    untitled,
    rows.map((cells) => cells.map(visible)),
  );
  return ['', title, ...lines.map((line) => `  ${line}`)];
}

function pairs(values: Readonly<Record<string, unknown>> | null): readonly (readonly string[])[] {
  return Object.entries(values ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
}
