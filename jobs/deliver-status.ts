/**
 * The last phase of a run that mirrors tasks. It waits until each change has been delivered to its targets, or has been
 * tried and waits for its retry; then it settles the run's rows. The dispatchers deliver, in this process or in another
 * one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { addNote, recordProgress } from '../src/engine/ledger/runs.ts';
import { exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobResult } from '../src/engine/worker/job.ts';
import { tellNotes } from '../src/mirror/inbound/notes.ts';
import { isAnyUnderWay } from '../src/mirror/inbound/waiting-reports.ts';
import { deliveryNotes, isUnderWay, settleDelivered } from '../src/mirror/outbox/settle-run.ts';
import { tasksRunOptions } from '../src/mirror/tasks/options.ts';

const LOOK_MS = 50;
/** After this the job frees its worker slot and is queued again. Longer than `isUnderWay` waits for a process that serves a target. */
const STAY_MS = 20_000;

export const deliverStatus = defineJob({
  name: 'deliver-status',
  options: tasksRunOptions,
  waitsInPlace: true,
  run: async (context): Promise<JobResult> => {
    const { pool, run, options, signal } = context;
    const startedMs = performance.now();
    const waitedMs = () => performance.now() - startedMs;
    const isDelivering = () => isUnderWay(pool, run.id, waitedMs());
    const isReporting = () => isAnyUnderWay(pool, run.id, options.targets);
    // A delivery that finds its item changed makes a report before it ends, and the end of a report queues deliveries: so both are
    // at rest only if nothing is delivered before and after the look at the reports.
    while ((await isDelivering()) || (await isReporting()) || (await isDelivering())) {
      if (signal.aborted || waitedMs() >= STAY_MS) return { status: 'again', inMs: 0 };
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    return exclusively(context, (exclusive) =>
      exclusive.transaction(async (db) => {
        const rowsSettled = await settleDelivered(db, run);
        for (const note of await deliveryNotes(db, run.id)) await addNote(db, run.id, note);
        await tellNotes(db, run);
        await recordProgress(db, run.id, { rowsSettled });
        await endRun(db, run.id, 'done');
        return { status: 'finished' };
      }),
    );
  },
});
