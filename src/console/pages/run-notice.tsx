/** Why a run failed or does not continue, and what it waits for. */
import { isHalfRead } from '../../engine/ledger/run-remedy.ts';
import { isUnfinished, type Run } from '../../engine/ledger/runs.ts';
import type { Suspension } from '../../engine/ledger/scopes/suspensions.ts';
import { waitsFor } from '../../engine/ledger/waiting-runs.ts';
import { accountPath } from '../../operator/page-paths.ts';
import type { RunReport } from '../../operator/report.ts';
import type { Waiting } from '../loads/uploads.ts';
import type { PageContext } from '../page.ts';
import { addressOf, Command, Link, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { type stuckTargets, WaitsForTargets } from './target-parts.tsx';

/** A worker takes a new run sooner. */
const TAKEN_WITHIN_MS = 10_000;

interface NoticeProps {
  readonly run: Run;
  readonly report: RunReport;
  /** Why nothing is sent to the account of an unfinished run. */
  readonly suspended: Suspension | undefined;
  /** The targets that do not take its deliveries. */
  readonly stuck: Awaited<ReturnType<typeof stuckTargets>>;
  /** The load that has its corrected lines. */
  readonly correction: string | undefined;
  /** The file with its corrected lines, which is not loaded yet. */
  readonly corrected: Waiting | undefined;
  readonly hint: PageContext['hint'];
}

export function StateNotice({ run, report, suspended, stuck, correction, corrected, hint }: NoticeProps) {
  const other = isUnfinished(run) ? waitsFor(run) : undefined;
  const isForgotten = report.state === 'queued' && Date.now() - run.createdAt.getTime() > TAKEN_WITHIN_MS;
  const isIdle = report.state === 'interrupted' || isForgotten;
  return (
    <>
      {report.error && (
        <p class={`notice ${report.state === 'failed' ? 'bad' : 'warn'}`}>
          {run.status === 'cancelled' && run.endedAt && [<Time at={run.endedAt} exact />, ':']}
          {run.status !== 'cancelled' && report.state !== 'awaiting-approval' && <code>{report.error.code}</code>}{' '}
          <Words text={report.error.message} />
          {other !== undefined && (
            <>
              {' '}
              <a href={`/runs/${other}`}>See run {other}</a>
            </>
          )}
        </p>
      )}
      {suspended && (
        <p class="notice warn">
          It waits until account <a href={accountPath(run.account)}>{run.account}</a> resumes:{' '}
          <Words text={suspended.message} most={600} />
        </p>
      )}
      <WaitsForTargets stuck={stuck} />
      {other !== undefined && !report.error && (
        <p class="notice">
          It waits for run <a href={`/runs/${other}`}>{other}</a>.
        </p>
      )}
      {correction !== undefined && (
        <p class="notice">
          Run <a href={`/runs/${correction}`}>{correction}</a> has the corrected lines of this file.
        </p>
      )}
      {corrected && (
        <p class="notice warn">
          <Link
            to={addressOf(`/load/${corrected.upload.id}`, corrected.form)}
            text={corrected.upload.name}
            most={120}
          />{' '}
          has the corrected lines of this file, and is not loaded yet.
        </p>
      )}
      {report.state === 'paused' && isHalfRead(run) && (
        <p class="notice warn">
          The process that read the file has ended before it had read all of it, so nothing was sent.{' '}
          <a href="/load">Load the file again</a>: the new run replaces this one.
        </p>
      )}
      {isIdle && (
        <div class="notice warn">
          No process works on it. Start a worker:
          <Command line={hint('start')} />
        </div>
      )}
    </>
  );
}
