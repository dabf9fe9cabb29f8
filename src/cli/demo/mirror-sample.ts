/** The demo's mirror of tasks: a silent baseline, then a task that somebody completes, and what the receiver hears of it. */
import { LockstepError } from '../../errors.ts';
import type { RunReport } from '../run-report.ts';
import type { Session } from '../session.ts';
import type { Workspace } from '../wire.ts';
import { plural } from '../words.ts';
import type { Receiver } from './receiver.ts';
import { MIRROR } from './settings.ts';

/** Runs the sync once and tells of it. */
export type RunOnce = (sync: string) => Promise<RunReport>;

export async function mirrorSample(
  { out }: Session,
  workspace: Workspace,
  receiver: Receiver,
  runOnce: RunOnce,
): Promise<{ baseline: RunReport; mirrored: RunReport }> {
  const baseline = await runOnce(MIRROR);
  out.say(`  So: ${plural(receiver.told.length, 'delivery', 'deliveries')}. What is there at first is the baseline.`);
  const task = await anOpenTask(workspace);
  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.complete', {
    path: { task_id: task.id },
    body: { isCompleted: true },
    lane: 'interactive',
  });
  out.say('', `6. Somebody completes “${task.title}”, and the sync runs again:`);
  const mirrored = await runOnce(MIRROR);
  for (const { id, isGenuine, type, task } of receiver.told)
    out.say(
      `  The receiver heard ${type} of “${task.title}”, ${isGenuine ? 'signed' : 'with a wrong signature'}, as ${id}.`,
    );
  return { baseline, mirrored };
}

async function anOpenTask({ database }: Workspace): Promise<{ id: string; title: string }> {
  const found = await database.pool.query<{ id: string; title: string }>(
    `select task_id as id, state->>'title' as title from ledger.tasks
     where sync = $1 and kind = 'task' and not (state->>'isCompleted')::boolean order by task_id::bigint limit 1`,
    [MIRROR],
  );
  const [task] = found.rows;
  if (task) return task;
  throw new LockstepError('DEMO_EMPTY', 'The sample workspace holds no open task.');
}
