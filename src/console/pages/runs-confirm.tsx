/** Asks before runs are cancelled, retried or acknowledged: one, or several that were selected in the list. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { isHalfRead } from '../../engine/ledger/run-remedy.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import type { RunReport, RunState } from '../../operator/report.ts';
import { reportRun } from '../../operator/run-report.ts';
import { requireOperator } from '../access/guard.ts';
import { CONFIRMED_ACTIONS, type ConfirmedAction } from '../actions/actions.ts';
import { definePage } from '../page.ts';
import { Button, Hidden } from '../parts/inputs.tsx';
import { Command, Empty, Link } from '../parts/parts.tsx';
import { Counts, State } from '../parts/run-counts.tsx';

const WORDS = {
  acknowledge: {
    button: 'Acknowledge',
    means:
      'Home and alerts leave its problems out, because a person knows them. Its rows do not change. The problems are shown again if the run is worked on again, or if an audit finds a violation.',
  },
  cancel: {
    button: 'Cancel',
    means:
      'Nothing more is sent. To write the rest later, retry the load or run the sync again: Lockstep reads before it writes, so it finds what was being sent.',
  },
  unread: {
    button: 'Cancel',
    means: 'Nothing of the file was sent, and nothing will be. To load the file later, load it again.',
  },
  decline: {
    button: 'Decline',
    means: 'Nothing more is written. You can load the file or run the sync again later.',
  },
  restart: {
    button: 'Send it after all',
    means: 'The load, or the sync, is planned again, and asks again before anything is sent.',
  },
  retry: {
    button: 'Retry',
    means:
      'A load is opened again for its rows that failed, were not sent or are in review; a sync starts a new run. Rows that succeeded are not sent again. Orders that may exist wait until a person has decided about them.',
  },
} as const;

function kindOf(action: ConfirmedAction, runs: readonly Run[], reports: readonly RunReport[]): keyof typeof WORDS {
  const areAll = (wanted: RunState) => reports.length > 0 && reports.every(({ state }) => state === wanted);
  if (action === 'cancel' && runs.every(isHalfRead)) return 'unread';
  if (action === 'cancel') return areAll('awaiting-approval') ? 'decline' : 'cancel';
  return action === 'retry' && areAll('not-approved') ? 'restart' : action;
}

export const confirm = definePage({
  path: '/confirm',
  query: z.object({
    action: z.enum(CONFIRMED_ACTIONS),
    run: z.union([z.string().transform((one) => [one]), z.array(z.string()).max(100)]).prefault([]),
  }),
  async show({ pool, settings, person, hint }, { query: { action, run: ids } }) {
    requireOperator(person);
    const runs = await Promise.all(ids.map((id) => readRun(pool, id)));
    const reports = await Promise.all(runs.map((run) => reportRun(pool, run, settings)));
    const kind = kindOf(action, runs, reports);
    const { button, means } = WORDS[kind];
    const label =
      kind === 'restart' ? button : `${button} ${runs.length === 1 ? 'the run' : plural(runs.length, 'run')}`;
    if (runs.length === 0) {
      const body = (
        <Empty title="No run is selected" isPage>
          <p>
            <a href="/runs">Select runs in the list</a>
          </p>
        </Empty>
      );
      return { title: button, tab: 'runs', body };
    }
    return {
      title: button,
      tab: 'runs',
      head: (
        <>
          <h1>{label}?</h1>
          <p>{means}</p>
          <form class="acts" method="post" action={`/confirm/${action}`}>
            {runs.map(({ id }) => (
              <input type="hidden" name="run" value={id} />
            ))}
            <Hidden values={{ kind }} />
            <button type="submit" class={action === 'cancel' ? 'danger' : 'primary'}>
              {label}
            </button>
            <Button to={runs.length === 1 ? `/runs/${ids[0]}` : '/runs'} label="Back" />
          </form>
        </>
      ),
      body: (
        <ul class="cards">
          {reports.map((report, i) => (
            <li class="card">
              <div class="card-head">
                <Link to={`/runs/${report.run}`} text={runs[i]?.title ?? report.sync} most={60} />
                <State report={report} />
                <small class="id">{report.run}</small>
              </div>
              <Counts report={report} />
              <Command line={hint(`runs ${action} ${report.run}`)} />
            </li>
          ))}
        </ul>
      ),
    };
  },
});
