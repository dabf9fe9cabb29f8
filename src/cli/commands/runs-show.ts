/** `lockstep runs show`: the result of a run, or of one of its rows. */
import type { Command } from 'commander';
import { isAttended } from '../../engine/ledger/attended.ts';
import { readRowStory } from '../../engine/ledger/row-story.ts';
import { reasonsOf } from '../../engine/ledger/rows.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { waitsFor } from '../../engine/ledger/waiting.ts';
import { quote } from '../../settings/words.ts';
import { wrongUse } from '../errors.ts';
import { table } from '../output.ts';
import { hintsFor } from '../reasons.ts';
import { figures, headline, plannedLines, problemLines } from '../report.ts';
import { storyLines, storyResult } from '../row-story.ts';
import { reportRun } from '../run-report.ts';
import type { Perform, Session } from '../session.ts';
import { formatCount, formatTime } from '../words.ts';

export function addShow(runs: Command, perform: Perform): void {
  runs
    .command('show')
    .summary('show one run')
    .description(
      'Shows the result of a run: counts, calls, notes, the number of rows per reason, and the first rows that need a ' +
        'person. With --row, shows the history of one row: its input, what it was matched with, each attempt to send it, ' +
        'and its verdict.',
    )
    .argument('<run>', 'id of the run')
    .option('--row <row>', 'line of the file, id of the contact, or number of the row')
    .action(
      perform((session, id: string, { row }: { row?: string }) =>
        row === undefined ? show(session, id) : showRow(session, id, row),
      ),
    );
}

async function show(session: Session, id: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const run = await readRun(pool, id);
  const report = await reportRun(pool, run, await session.settings());
  const reasons = await reasonsOf(pool, id);
  const { account, lane, phase, createdAt, endedAt, notes } = run;
  out.say(headline(report, run.title), `Account ${account}, lane ${lane}, started ${formatTime(createdAt)}.`);
  out.say(...figures(report, notes));
  if (reasons.length > 0) {
    const rows = reasons.map(({ count, verdict, reason }) => [formatCount(count), verdict, reason]);
    out.say('', ...table(['ROWS', 'VERDICT', 'REASON'], rows, { right: [0] }));
  }
  if (run.dryRun && run.status === 'done') out.say(...(await plannedLines(pool, report, hint)));
  else out.say(...(await problemLines(pool, report, hintsFor(hint, run))));
  if (report.error) out.say('', `It ${run.status === 'paused' ? 'is paused' : 'failed'}: ${report.error.message}`);
  const other = isUnfinished(run) ? waitsFor(run) : undefined;
  if (other !== undefined) out.say('', `It waits for run ${other}. See that run with: ${hint(`runs show ${other}`)}`);
  if (run.status === 'running') {
    const isIdle = !(await isAttended(pool, id));
    const remedy = `Resume it with: ${hint(`runs resume ${id}`)}, or start a worker: ${hint('start')}`;
    out.say('', isIdle ? `No process works on it. ${remedy}` : 'A process works on it.');
  }
  out.result({
    ...report,
    account,
    lane,
    phase: phase ?? null,
    startedAt: createdAt,
    endedAt: endedAt ?? null,
    notes,
    waitsFor: other ?? null,
    reasons,
  });
}

async function showRow(session: Session, id: string, row: string): Promise<void> {
  const { out, hint } = session;
  const { pool } = await session.openLedger();
  const hints = hintsFor(hint, await readRun(pool, id));
  const story = await readRowStory(pool, id, row);
  if (!story) {
    const message = `Run ${id} has no row ${quote(row)}. List its rows with: ${hint(`runs export ${id} --out -`)}`;
    throw wrongUse(message, 'ROW_UNKNOWN');
  }
  out.say(...storyLines(story, hints));
  out.result(storyResult(story, hints));
}

const isUnfinished = ({ status }: Run) => status === 'running' || status === 'paused';
