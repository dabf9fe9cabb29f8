/** Activity: what people did here, and programs through the API. */
import { z } from 'zod';
import { capital } from '../../base/texts.ts';
import { listActions, type TakenAction } from '../../engine/ledger/console/console-actions.ts';
import { afterNumber, pageOf } from '../api/shapes.ts';
import { definePage } from '../page.ts';
import { addressOf, Chip, Empty, Foreign, More, NoMore, Table, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

const PER_PAGE = 100;

export const activity = definePage({
  path: '/activity',
  query: z.object({ after: afterNumber }),
  async show({ pool }, { query: { after } }) {
    const found = await listActions(pool, { limit: PER_PAGE + 1, after });
    const { shown, next } = pageOf(found, PER_PAGE, ({ id }) => String(id));
    return {
      title: 'Activity',
      tab: 'activity',
      command: 'activity',
      head: <h1>Activity</h1>,
      body:
        shown.length === 0 && after !== undefined ? (
          <NoMore to="/activity" />
        ) : shown.length === 0 ? (
          <Empty title="No one has done anything here yet">
            <p>Every action in the console and through its API is listed here: who did it, what, and when.</p>
          </Empty>
        ) : (
          <>
            <ActionList actions={shown} />
            <More to={next && addressOf('/activity', { after: next })} />
          </>
        ),
    };
  },
});

export function ActionList({ actions }: { readonly actions: readonly TakenAction[] }) {
  return (
    <Table
      columns={['Time', 'Who', 'Action', 'About', 'Outcome']}
      rows={actions.map(({ at, who, via, action, about, refused }) => [
        <Time at={at} />,
        [who, via === 'api' && <small class="dim"> API</small>],
        actionWords(action),
        <About action={action} about={about} />,
        refused === undefined ? <Chip tone="good">done</Chip> : <Chip tone="bad">{refused}</Chip>,
      ])}
    />
  );
}

function About({ action, about }: Pick<TakenAction, 'action' | 'about'>) {
  if (action === 'replay-deliveries') return <Words text={about} most={200} />; // may name times
  const [, called, call] = /^(.*): call ([-\da-f]{36})$/.exec(about) ?? [];
  if (call !== undefined) return <a href={`/calls/${call}`}>{called}</a>;
  const [, run, row] = /^(run-\d{6}-\d{4}-[\da-f]{6})(?:\/(.+))?$/.exec(about) ?? [];
  if (run === undefined) return <Foreign text={about} most={80} />;
  const rows = row === undefined ? '' : `/rows/${encodeURIComponent(row)}`;
  return <a href={`/runs/${run}${rows}`}>{about}</a>;
}

/** `Resume run`; the name of an operation of the service stays as it is. */
function actionWords(action: string): string {
  return action.includes('.') ? action : capital(action.replaceAll('-', ' '));
}
