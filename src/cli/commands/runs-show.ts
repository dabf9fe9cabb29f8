/** `lockstep runs show`: the result of a run, or of one of its rows. */
import { formatCount } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { type Hints, meaningOf, remedyFor, statementFor } from '../../base/reasons/reasons.ts';
import { visible } from '../../base/visible.ts';
import { approvalOf } from '../../engine/ledger/approval.ts';
import { PROBLEMS } from '../../engine/ledger/rows.ts';
import { isUnfinished, readRun } from '../../engine/ledger/runs.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import type { RowAttempt, RowInput, RowStory, RowVerdict } from '../../engine/ledger/views/row-story.ts';
import { latestRun } from '../../engine/ledger/views/run-list.ts';
import { type PhaseTimes, phaseTimes } from '../../engine/ledger/views/run-phases.ts';
import { waitsFor } from '../../engine/ledger/waiting-runs.ts';
import { formatTime, formatTook, prunedNote } from '../../operator/format.ts';
import { hintsFor } from '../../operator/hints.ts';
import { phaseWords, waitsOf } from '../../operator/phase-words.ts';
import {
  cellPairs,
  findRow,
  OUTCOME_WORDS,
  pairsOf,
  STATE_WORDS,
  storyResult,
  tookWords,
} from '../../operator/row-words.ts';
import { reportRun } from '../../operator/run-report.ts';
import type { Command } from '../command.ts';
import { table } from '../print/output.ts';
import { problemLines } from '../print/problem-lines.ts';
import { figures, headline, plannedLines } from '../print/run-summary.ts';
import type { Perform, Session } from '../session.ts';

export function addShow(runs: Command, perform: Perform): void {
  runs
    .command('show')
    .summary('show one run')
    .description(
      'Shows the result of a run: counts, calls, notes, the number of rows per reason, and the first rows that need a ' +
        'person. With --row, shows the history of one row: its input, what it was matched with, each attempt to send it, ' +
        'and its verdict.',
    )
    .argument('[run]', 'id of the run; default: the latest run')
    .option('--row <row>', 'line of the file, id of the contact, or number of the row')
    .action(
      perform(async (session, named: string | undefined, { row }: { row?: string }) => {
        const id = named ?? (await latestId(session));
        return row === undefined ? show(session, id) : showRow(session, id, row);
      }),
    );
}

/** @throws LockstepError RUN_UNKNOWN */
async function latestId(session: Session): Promise<string> {
  const { pool } = await session.openLedger();
  const latest = await latestRun(pool);
  if (latest) return latest.id;
  throw wrongUse(`There is no run yet. Start one with: ${session.hint('run SYNC')}`, 'RUN_UNKNOWN');
}

async function show(session: Session, id: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const run = await readRun(pool, id);
  const report = await reportRun(pool, run, await session.settings());
  const reasons = await reasonsOf(pool, id);
  const approval = await approvalOf(pool, id);
  const phases = await phaseTimes(pool, run);
  const { account, lane, phase, createdAt, endedAt, notes } = run;
  out.say(headline(report, run.title), `Account ${account}, lane ${lane}, started ${formatTime(createdAt)}.`);
  const bound = run.isBound ? ' It writes only what was shown.' : '';
  if (approval) out.say(`Approved by ${approval.by}, ${formatTime(approval.at)}.${bound}`);
  if (report.plan !== undefined)
    out.say(
      `It shows plan ${report.plan}. To approve only this plan, and no later one: ${hint(`runs resume ${id} --plan ${report.plan}`)}`,
    );
  out.say(...figures(report, { ...run, notes }), ...prunedNote(run));
  const isUnattended = report.state === 'interrupted' || report.state === 'queued';
  out.say(
    ...section(
      'Phases',
      phases.map((times) => phaseCells(times, isUnattended ? (run.attendedAt ?? createdAt) : undefined)),
    ),
  );
  // The groups of problems below have their own counts.
  const others = reasons.filter(({ verdict }) => !PROBLEMS.includes(verdict));
  if (others.length > 0) {
    const rows = others.map(({ count, verdict, reason }) => [
      formatCount(count),
      verdict,
      reason,
      meaningOf(reason) ?? '',
    ]);
    out.say('');
    out.table(['ROWS', 'VERDICT', 'REASON', 'MEANING'], rows, { right: [0] });
  }
  if (run.dryRun && run.status === 'done') out.say(...(await plannedLines(pool, report, hint)));
  else out.say(...(await problemLines(pool, report, hintsFor(hint, run))));
  if (report.error) out.say('', report.error.message);
  const other = isUnfinished(run) ? waitsFor(run) : undefined;
  if (other !== undefined) out.say('', `It waits for run ${other}. See that run with: ${hint(`runs show ${other}`)}`);
  const resume = hint(`runs resume ${id}`);
  if (isUnattended)
    out.say('', `No process works on it. Start a worker: ${hint('start')}, or continue only this run: ${resume}`);
  out.result({
    ...report,
    account,
    lane,
    phase: phase ?? null,
    phases,
    startedAt: createdAt,
    endedAt: endedAt ?? null,
    approval: approval ?? null,
    notes,
    waitsFor: other ?? null,
    reasons,
  });
}

/** `leftAt`: until when a process worked on the run; undefined if one does, or if the run does not run. */
function phaseCells(times: PhaseTimes, leftAt: Date | undefined): readonly string[] {
  const { phase, workedMs, workingSince, waits } = times;
  const nowMs = workingSince ? Math.max(0, (leftAt ?? new Date()).getTime() - workingSince.getTime()) : 0;
  const waitingSince = waits.find((wait) => wait.since !== undefined)?.since;
  const now = [
    ...(workingSince ? [leftAt ? 'unfinished' : 'at work'] : []),
    ...(waitingSince ? [`waiting since ${formatTime(waitingSince)}`] : []),
  ];
  return [phaseWords(phase), [formatTook(workedMs + nowMs), ...waitsOf(times), ...now].join(', ')];
}

async function showRow(session: Session, id: string, row: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const { run, story, hints } = await findRow(pool, id, row, hint);
  out.say(...storyLines(story, hints, run.options.createCustomers === true));
  out.result(storyResult(story, hints));
}

export function storyLines(story: RowStory, hints: Hints, createsCustomers: boolean): readonly string[] {
  const { run, n, sourceId, label, input, matches, plan, attempts, formerVerdicts, verdict, state } = story;
  const name = label === null || label === sourceId ? '' : `, ${label}`;
  return [
    `Row ${n} of run ${run}: ${placeWords(story)}${visible(`${sourceId}${name}`)}`,
    ...inputLines(input, createsCustomers),
    ...section(
      'Matched with',
      matches.map(({ kind, recordId, by }) => [`${kind} ${recordId}`, `by ${by}`]),
    ),
    ...(plan === null
      ? []
      : section('Plan', [
          [plan.action, plan.recordId === null ? '' : `record ${plan.recordId}`],
          ...pairsOf(plan.fields),
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

function placeWords({ sourceId, input }: RowStory): string {
  if (input.cells === null) return '';
  return /^\d+-\d+$/.test(sourceId) ? 'lines ' : 'line ';
}

function inputLines({ keys, fields, customer, cells }: RowInput, createsCustomers: boolean): readonly string[] {
  return [
    ...section('Cells of the file', cellPairs(cells)),
    ...section(cells === null ? 'Input' : 'Read as', pairsOf(fields)),
    ...section('Customer, if it is missing', createsCustomers ? pairsOf(customer) : []),
    ...section('Recognised by', pairsOf(keys)),
  ];
}

function attemptCells({ at, action, outcome, httpStatus, reason, facts, tookMs }: RowAttempt, hints: Hints) {
  return [
    formatTime(new Date(at)),
    action ?? '',
    OUTCOME_WORDS[outcome],
    httpStatus === null ? '' : `HTTP ${httpStatus}`,
    tookWords(tookMs),
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
