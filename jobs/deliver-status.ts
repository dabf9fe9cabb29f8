/**
 * The last phase of a run that mirrors tasks: waits until each of its changes has reached its targets, or has been tried
 * and waits for its retry, and settles the run's rows by what became of them. The courier delivers, in this process or
 * in another one.
 */
import { z } from 'zod';
import { deliveryNotes, isUnderWay, settleDelivered } from '../src/deliveries/settle-run.ts';
import { addNote, endRun, recordProgress } from '../src/ledger/runs.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobResult } from '../src/worker/job.ts';

const LOOK_MS = 200;

export const deliverStatus = defineJob({
  name: 'deliver-status',
  summary: 'waits for the deliveries of a run and settles its rows',
  options: z.unknown(),
  run: async (context): Promise<JobResult> => {
    const { pool, run } = context;
    if (await isUnderWay(pool, run.id)) return { status: 'again', inMs: LOOK_MS };
    return exclusively(context, (exclusive) =>
      exclusive.transaction(async (db) => {
        const rowsSettled = await settleDelivered(db, run);
        for (const note of await deliveryNotes(db, run.id)) await addNote(db, run.id, note);
        await recordProgress(db, run.id, { rowsSettled });
        await endRun(db, run.id, 'done');
        return { status: 'finished' };
      }),
    );
  },
});
