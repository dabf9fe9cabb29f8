/** One run: what it does now, its counts, the rows that need a person, and what to do about it. */
import { z } from 'zod';
import { formatCount, plural } from '../../base/counts.ts';
import { meaningOf } from '../../base/reasons/reasons.ts';
import { listActions } from '../../engine/ledger/console/console-actions.ts';
import { correctionOf } from '../../engine/ledger/matching/corrections.ts';
import { DECIDED_PROBLEMS, PROBLEMS, rowsLeft, VERDICTS } from '../../engine/ledger/rows.ts';
import { isUnfinished, type Run, readRun } from '../../engine/ledger/runs.ts';
import { budgetBetween } from '../../engine/ledger/scopes/budget-minutes.ts';
import { suspensionOf } from '../../engine/ledger/scopes/suspensions.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import { throughputOf } from '../../engine/ledger/views/run-figures.ts';
import { phaseTimes } from '../../engine/ledger/views/run-phases.ts';
import { asSentence, formatRate, formatShare, formatTook, prunedNote } from '../../operator/format.ts';
import { hintsFor } from '../../operator/hints.ts';
import { phaseKind, watchesFolder } from '../../operator/phase-words.ts';
import { problemSections } from '../../operator/problem-rows.ts';
import type { RunReport, RunState } from '../../operator/report.ts';
import { planOf, type RunPlan } from '../../operator/run-plan.ts';
import { reportRun } from '../../operator/run-report.ts';
import { callWords, leftOutWords, notesBeside, SCAN_WORDS } from '../../operator/run-words.ts';
import { readLoad } from '../../syncs/orders/begin-load.ts';
import { SLOW_COUNTS_MS, sharedWhileOpen } from '../live/open-run-reads.ts';
import { sharedRead } from '../live/shared-reads.ts';
import { definePage, type PageContext } from '../page.ts';
import { Speed } from '../parts/charts.tsx';
import { addressOf, Fact, Items, Section, Time, Title } from '../parts/parts.tsx';
import { Phases } from '../parts/phases.tsx';
import { Problems } from '../parts/problem-groups.tsx';
import { Counts, CountsBar, State } from '../parts/run-counts.tsx';
import { Words } from '../parts/words.tsx';
import { ActionList } from './activity.tsx';
import { Plan, samplesOf } from './plan.tsx';
import { isRetriable, RunActs } from './run-acts.tsx';
import { ApproveFirst, isLarge, Results } from './run-load.tsx';
import { StateNotice } from './run-notice.tsx';
import { stuckTargets } from './target-parts.tsx';

const SHOWN_ACTIONS = 10;
/** The chart of a shorter run says nothing. */
const LEAST_PARTS = 5;
/** Viewers read the page of a running run every second; its chart, which is read from all that it sent, less often. */
const FRESH_MS = 500;
const CHART = { freshMs: 5_000, slowMs: SLOW_COUNTS_MS };
const BUSY: readonly RunState[] = ['receiving', 'auditing'];
const SETTLED_WELL = VERDICTS.filter((verdict) => !PROBLEMS.includes(verdict));

export const run = definePage({
  path: '/runs/:run',
  params: z.object({ run: z.string() }),
  async show(context, { params }) {
    const { pool, settings, canAct, hint } = context;
    const shown = await readRun(pool, params.run);
    const { figures, actions, suspended, stuck, isLoad, correction, corrected } = await readAll(context, shown);
    const { report, sections, reasons, throughput, minutes, times, left, canRetry } = figures;
    const hasResults = isLoad && report.counts.in > 0 && shown.rowsPruned === 0;
    const notes = notesBeside(shown, [report.error?.message, suspended?.message]);
    const isReplaced = report.state === 'not-approved' && correction !== undefined; // that load has all its lines
    const isAsking = report.state === 'awaiting-approval';
    const [plan, samples] = isAsking
      ? await Promise.all([planOf(pool, shown, settings), samplesOf(context, shown)])
      : [];
    return {
      title: `${shown.title}, ${shown.id}`,
      tab: 'runs',
      command: `runs show ${shown.id}`,
      assets: ['uplot.css', 'uplot.js', 'chart.js', 'drawer.js'],
      isBusy: shown.status === 'running' || BUSY.includes(report.state),
      body: (
        <>
          <Headline run={shown} plan={isLoad ? plan : undefined} {...{ report, canAct, correction, canRetry }} />
          <StateNotice run={shown} {...{ report, suspended, stuck, correction, corrected, hint }} />
          <Phases
            {...{ run: shown, report, left, times, minutes }}
            settleMs={settings.accounts[shown.account]?.budget.settleMs}
          />
          {plan && samples && <Plan run={shown} plan={plan} samples={samples} />}
          {plan && isLoad && canAct && <ApproveFirst run={shown} plan={plan} />}
          {shown.type === 'audit' ? (
            <p>
              An audit has no rows of its own: the pages of the runs that sent the rows say what it found. Calls:{' '}
              {formatCount(report.calls)} {callWords(report, shown)}.
            </p>
          ) : (
            <Figures run={shown} {...{ report, hasResults }} hasProblems={sections.length > 0} />
          )}
          {hasResults && <Results run={shown} report={report} canCorrect={canAct && correction === undefined} />}
          {sections.length > 0 && !isReplaced && (
            <Problems title={shown.title} {...{ report, sections, hint, hasResults }} />
          )}
          {reasons.length > 0 && <OtherOutcomes run={shown} reasons={reasons} />}
          {throughput && throughput.sent.length >= LEAST_PARTS && (
            <Section title="Speed and budget">
              <Speed throughput={throughput} account={shown.account} minutes={minutes} />
            </Section>
          )}
          {notes.length > 0 && (
            <Section title="Notes">
              <Items as="notes" of={notes.map((note) => <Words text={asSentence(note)} />)} />
            </Section>
          )}
          {actions.length > 0 && (
            <Section title="Activity">
              <ActionList actions={actions} />
            </Section>
          )}
        </>
      ),
    };
  },
});

async function readAll(context: PageContext, run: Run) {
  const { pool, settings, canAct, loads } = context;
  const [figures, actions, suspension, stuck, load, correction] = await Promise.all([
    // The rows of an unfinished run are counted once for all its viewers.
    sharedWhileOpen(settings, 'figures', { run, read: () => readFigures(context, run), freshMs: FRESH_MS }),
    listActions(pool, { limit: SHOWN_ACTIONS, about: run.id }),
    suspensionOf(pool, run.scope),
    stuckTargets(context, run),
    readLoad(pool, run.id),
    correctionOf(pool, run.id),
  ]);
  const suspended = run.endedAt === undefined ? suspension : undefined;
  const isLoad = load !== undefined;
  const waiting = isLoad && canAct && correction === undefined ? await loads.uploads.waiting() : [];
  const corrected = waiting.find(({ upload }) => upload.corrects === run.id);
  return { figures, actions, suspended, stuck, isLoad, correction, corrected };
}

async function readFigures(context: PageContext, run: Run) {
  const { pool, settings } = context;
  const isOpen = isUnfinished(run);
  const [rows, speed, left, times] = await Promise.all([
    rowsOf(context, run),
    sharedRead(settings, `speed ${run.id}`, () => speedOf(pool, run), isOpen ? CHART : {}),
    isOpen && phaseKind(run) !== 'reading' ? rowsLeft(pool, run.id) : undefined,
    phaseTimes(pool, run),
  ]);
  return { ...rows, ...speed, left, times };
}

async function rowsOf({ pool, settings, hint }: PageContext, run: Run) {
  const report = await reportRun(pool, run, settings);
  const settledWell = SETTLED_WELL.filter((verdict) => report.counts[verdict] > 0);
  const [sections, reasons, canRetry] = await Promise.all([
    problemSections(pool, report, hintsFor(hint, run), isUnfinished(run) ? DECIDED_PROBLEMS : PROBLEMS),
    reasonsOf(pool, run.id, settledWell),
    isRetriable(pool, run, report),
  ]);
  return { report, sections, reasons, canRetry };
}

/** How fast it sent its rows, and the budget of its account meanwhile. */
async function speedOf(pool: PageContext['pool'], { id, scope }: Run) {
  const throughput = await throughputOf(pool, id);
  if (throughput === undefined) return { throughput, minutes: [] };
  const { startedAt, widthS, sent } = throughput;
  const until = new Date(startedAt.getTime() + sent.length * widthS * 1_000);
  return { throughput, minutes: await budgetBetween(pool, scope, startedAt, until) };
}

interface OfRun {
  readonly run: Run;
  readonly report: RunReport;
}

interface OtherOutcomesProps {
  readonly run: Run;
  readonly reasons: Awaited<ReturnType<typeof reasonsOf>>;
}

function OtherOutcomes({ run, reasons }: OtherOutcomesProps) {
  return (
    <Section title="Other verdicts by reason">
      <table class="list narrow">
        <tbody>
          {reasons.map(({ verdict, reason, count }) => (
            <tr>
              <td class="number">{formatCount(count)}</td>
              <td>{verdict}</td>
              <td>
                <a href={addressOf(`/runs/${run.id}/rows`, { verdict, reason })}>
                  <code>{reason}</code>
                </a>{' '}
                {meaningOf(reason)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

interface HeadlineProps extends OfRun {
  readonly plan: RunPlan | undefined;
  readonly canAct: boolean;
  readonly correction: string | undefined;
  readonly canRetry: boolean;
}

function Headline({ run, report, plan, canAct, correction, canRetry }: HeadlineProps) {
  return (
    <div class="headline">
      <div>
        <Title text={run.title} most={120} />
        <p class="dim">
          <code>{run.id}</code>
          {run.dryRun && ' · dry run'} · account {run.account} · started <Time at={run.createdAt} exact /> ·{' '}
          {formatTook(report.durationMs)}
        </p>
      </div>
      <div class="acts">
        <State report={report} />
        {canAct && <RunActs {...{ run, report, correction, canRetry }} isAsked={plan !== undefined && isLarge(plan)} />}
      </div>
    </div>
  );
}

interface FiguresProps extends OfRun {
  readonly hasProblems: boolean;
  /** Its files of results have more than a CSV of its rows. */
  readonly hasResults: boolean;
}

function Figures({ run, report, hasProblems, hasResults }: FiguresProps) {
  const { counts, calls, budget, scan, audit } = report;
  const isPartial = budget.allowedPerSecond !== null && budget.used !== null;
  return (
    <Section
      title={plural(counts.in, watchesFolder(run) ? 'file' : 'row')}
      side={
        <span class="links">
          <a href={`/runs/${run.id}/rows`}>Look at the rows</a>
          {hasProblems && <a href={addressOf(`/runs/${run.id}/rows`, { verdict: 'problem' })}>Only problems</a>}
          {!hasResults && (
            <a href={`/runs/${run.id}/rows.csv`} download={`${run.id}.csv`}>
              Download as CSV
            </a>
          )}
        </span>
      }
    >
      <div class="figures">
        {counts.in > 0 && (
          <>
            <CountsBar report={report} />
            <Counts report={report} />
          </>
        )}
        {[...leftOutWords(report), ...prunedNote(run)].map((line) => (
          <p class="dim">{line}</p>
        ))}
        <dl class="facts">
          {!watchesFolder(run) && (
            <Fact name="Calls">
              {formatCount(calls)} {callWords(report, run)}
              {isPartial && (
                <span class="dim">
                  {` · ${formatShare(budget.used ?? 0)} of the budget of ${formatRate(budget.allowedPerSecond ?? 0)}`}
                </span>
              )}
              {budget.limited > 0 && (
                <span class="warn-words"> · the service asked to slow down {plural(budget.limited, 'time')}</span>
              )}
            </Fact>
          )}
          {scan !== null && <Fact name="Scan">{SCAN_WORDS[scan]}</Fact>}
          {audit !== undefined && audit.violations > 0 && (
            <>
              <dt>Audit</dt>
              <dd class="bad-words">{plural(audit.violations, 'row')} found more than once, or not found any more</dd>
            </>
          )}
        </dl>
      </div>
    </Section>
  );
}
