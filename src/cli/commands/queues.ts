/** `lockstep queues`: the jobs that workers share. */
import { formatCount } from '../../base/counts.ts';
import { formatTime } from '../../operator/format.ts';
import { phaseWords } from '../../operator/phase-words.ts';
import { QUEUE_WORDS, readQueue } from '../../operator/queue-states.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { wholeNumber } from './arguments.ts';

const DEFAULT_LIMIT = 20;

export function define(queues: Command, perform: Perform): void {
  queues
    .description(
      'Lists the jobs of the queue by state: each names a run that a worker continues. A lost queue is filled again from ' +
        'the ledger, so there is nothing to repair here: resume, retry or cancel the run.',
    )
    .option('--limit <n>', 'how many jobs of each state to list', wholeNumber, DEFAULT_LIMIT)
    .action(perform(list));
}

async function list(session: Session, { limit }: { readonly limit: number }): Promise<void> {
  const { out } = session;
  const states = await readQueue(await (await session.openWorkspace()).queue(), limit);
  const jobs = states.flatMap(({ state, jobs }) => jobs.map((job) => ({ state, ...job })));
  out.say(...states.map(({ state, count }) => `${QUEUE_WORDS[state]}: ${formatCount(count)}`));
  const time = (at: Date | undefined) => (at === undefined ? '' : formatTime(at));
  if (jobs.length > 0) {
    const rows = jobs.map(({ state, run, name, addedAt, startedAt, dueAt }) => [
      run,
      phaseWords(name),
      QUEUE_WORDS[state].toLowerCase(),
      time(addedAt),
      time(startedAt),
      time(dueAt),
    ]);
    out.say('');
    out.table(['RUN', 'PHASE', 'STATE', 'ADDED', 'LAST STARTED', 'DUE'], rows);
  }
  out.result({ states });
}
