/**
 * The last phase of a run that mirrors tasks: waits until each of its changes has reached its targets, or has been tried
 * and waits for its retry, and settles the run's rows by what became of them. The dispatchers deliver, in this process or
 * in another one.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { deliveryNotes, isUnderWay, settleDelivered } from '../src/deliveries/settle-run.ts';
import { addNote, endRun, recordProgress } from '../src/engine/ledger/runs.ts';
import { tellNotes } from '../src/reports/notes.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobResult } from '../src/worker/job.ts';

const LOOK_MS = 50;
/** After this it gives its place back, and comes again. */
const STAY_MS = 20_000;

export const deliverStatus = defineJob({
  name: 'deliver-status',
  summary: 'waits for the deliveries of a run and settles its rows',
  options: z.unknown(),
  waitsInPlace: true,
  run: async (context): Promise<JobResult> => {
    const { pool, run, signal } = context;
    const leaveAtMs = performance.now() + STAY_MS;
    while (await isUnderWay(pool, run.id)) {
      if (signal.aborted || performance.now() >= leaveAtMs) return { status: 'again', inMs: 0 };
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
