/** What an operator can do with a run. */
import type pg from 'pg';
import { hasReviewToReopen } from '../../engine/ledger/matching/staged-orders.ts';
import { isHalfRead, isOfOtherTenant, isUnconfirmed } from '../../engine/ledger/run-remedy.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { accountPath } from '../../operator/page-paths.ts';
import { watchesFolder } from '../../operator/phase-words.ts';
import type { RunReport, RunState } from '../../operator/report.ts';
import { problemsIn } from '../../operator/run-report.ts';
import type { RunAction } from '../actions/actions.ts';
import { Act, Button } from '../parts/inputs.tsx';
import { addressOf } from '../parts/parts.tsx';

interface RunActsProps {
  readonly run: Run;
  readonly report: RunReport;
  /** The load that has its corrected lines. */
  readonly correction: string | undefined;
  /** Whether a retry would work on any of its rows. */
  readonly canRetry: boolean;
  /** Whether a person types the number of writes before it is approved. */
  readonly isAsked: boolean;
}

export function RunActs({ run, report, correction, canRetry, isAsked }: RunActsProps) {
  return (
    <>
      {isUnconfirmed(run) && <Button to={accountPath(run.account)} label={`Confirm account ${run.account}`} primary />}
      {actionsFor(run, report, correction, canRetry).map((offered) => (
        <ActOn run={run.id} plan={run.planId} isAsked={isAsked} {...offered} />
      ))}
    </>
  );
}

/** An ended load whose only problems are rows in review may have none to retry, such as a record that exists twice. */
export async function isRetriable(pool: pg.Pool, run: Run, { type, counts }: RunReport): Promise<boolean> {
  const isOnlyReview = run.status === 'done' && type === 'orders' && counts.rejected + counts.unknown === 0;
  return !isOnlyReview || counts.review === 0 || hasReviewToReopen(pool, run.id);
}

interface ActOnProps extends Offered {
  readonly run: string;
  /** The name of the plan that the page shows. */
  readonly plan: string | undefined;
  readonly isAsked: boolean;
}

/** A page of its own says what the action means, and asks. */
function ActOn({ run, plan, action, label, primary, isAsked }: ActOnProps) {
  if (action === 'resume' && !isAsked)
    return <Act path={`/runs/${run}/${action}`} label={label} primary={primary} values={{ plan }} />;
  const path = action === 'resume' ? `/runs/${run}/approve` : addressOf('/confirm', { action, run });
  return <Button to={path} label={label} primary={primary} />;
}

interface Offered {
  readonly action: RunAction;
  readonly label: string;
  readonly primary: boolean;
}

function actionsFor(
  run: Run,
  report: RunReport,
  correction: string | undefined,
  canRetry: boolean,
): readonly Offered[] {
  const { status, partOf, isAcknowledged } = run;
  if (partOf !== undefined) return [];
  if (report.state === 'not-approved' && correction !== undefined) return []; // that load has all its lines
  const isWrong = status === 'failed' || (status === 'done' && problemsIn(report.counts) > 0);
  const acknowledge: Offered = { action: 'acknowledge', label: 'Acknowledge', primary: false };
  const work = workOn(run, report).filter(({ action }) => canRetry || action !== 'retry');
  return [...work, ...(isWrong && !isAcknowledged && !report.dryRun ? [acknowledge] : [])];
}

/** A person has stopped it, so nothing has failed. */
const RETRY_WORDS: Partial<Record<RunState, string>> = {
  'not-approved': 'Send it after all',
  cancelled: 'Send the rest',
};

/** What resumes or cancels the run. */
function workOn(run: Run, { state, type, counts, dryRun }: RunReport): readonly Offered[] {
  const { status, phase } = run;
  if (state === 'awaiting-approval') {
    return [
      { action: 'resume', label: 'Approve', primary: true },
      { action: 'cancel', label: 'Decline', primary: false },
    ];
  }
  const resume: Offered = { action: 'resume', label: 'Resume', primary: true };
  const cancel: Offered = { action: 'cancel', label: 'Cancel the run', primary: false };
  const hasFailed = counts.rejected + counts.unknown > 0 || status === 'failed';
  const label = RETRY_WORDS[state] ?? (hasFailed ? 'Retry what failed' : 'Retry the rows in review');
  const retry: Offered = { action: 'retry', label, primary: false };
  if (isHalfRead(run) || isOfOtherTenant(run)) return [cancel];
  if (isUnconfirmed(run)) return [{ ...resume, primary: false }, cancel];
  if (status === 'paused') return [resume, cancel];
  if (status === 'running') return [cancel];
  if (status === 'failed' && phase !== undefined) return [resume];
  // An invalid row of a file is never sent: it needs a corrected file.
  const failed = problemsIn(counts) - (type === 'orders' ? counts.invalid : 0);
  // Workers retry deliveries; a new run would not. A file that a run has put away is not in its folder any more.
  const isInVain = (type === 'tasks' && !hasFailed) || watchesFolder(run);
  return failed > 0 && !dryRun && !isInVain ? [retry] : [];
}
