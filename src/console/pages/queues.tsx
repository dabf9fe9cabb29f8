/** Queues: the jobs that workers share, by state. A job only names the run to work on; the work itself is in the ledger. */
import { formatCount, plural } from '../../base/counts.ts';
import type { ListedJob } from '../../engine/worker/queue.ts';
import { phaseWords } from '../../operator/phase-words.ts';
import { QUEUE_WORDS, readQueue } from '../../operator/queue-states.ts';
import { definePage } from '../page.ts';
import { Chip, Crumbs, Empty, Section, Table, Time } from '../parts/parts.tsx';

/** Jobs of one state that are listed. */
const MOST = 50;

export const queues = definePage({
  path: '/queues',
  async show({ queue }) {
    const states = await readQueue(await queue(), MOST);
    return {
      title: 'Queues',
      tab: 'settings',
      command: 'queues',
      head: (
        <>
          <Crumbs to={{ '/settings': 'Settings' }} />
          <h1>Queues</h1>
          <p class="dim">
            A job names a run that a worker continues. A lost queue is filled again from the ledger, so there is nothing
            to repair here: to resume, retry or cancel a run, open its page. <a href="/queues/board">Bull Board</a>{' '}
            shows the jobs as BullMQ has them, for reading.
          </p>
        </>
      ),
      body: states.every(({ count }) => count === 0) ? (
        <Empty title="No job in the queue">
          <p>While a worker runs, each run that is under way has jobs here.</p>
        </Empty>
      ) : (
        states.map(({ state, count, jobs }) => (
          <Section title={QUEUE_WORDS[state]} side={<span class="count">{formatCount(count)}</span>}>
            {jobs.length === 0 ? <p class="dim">none</p> : <Jobs jobs={jobs} />}
            {count > jobs.length && <p class="dim">And {plural(count - jobs.length, 'more job', 'more jobs')}.</p>}
          </Section>
        ))
      ),
    };
  },
});

function Jobs({ jobs }: { readonly jobs: readonly ListedJob[] }) {
  return (
    <Table
      columns={['Run', 'Phase', 'Added', 'Last started', 'Due', 'Notes']}
      rows={jobs.map(({ run, name, addedAt, startedAt, dueAt, isUrgent, stalls }) => [
        <a href={`/runs/${run}`}>{run}</a>,
        phaseWords(name),
        ...[addedAt, startedAt, dueAt].map((at) => at && <Time at={at} exact />),
        [
          isUrgent && <Chip tone="dim">interactive</Chip>,
          stalls > 0 && <Chip tone="warn">a worker stopped responding</Chip>,
        ],
      ])}
    />
  );
}
