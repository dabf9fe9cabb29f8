/**
 * Loads the files of orders that have appeared in a folder, once each: takes in every complete one as a load of its own,
 * waits for the loads, and moves each file to done/ or failed/ with its results beside it.
 */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { FIELDS, type Field } from '../src/csv/fields.ts';
import { LockstepError } from '../src/errors.ts';
import { addNote, type Run, readRun, recordProgress } from '../src/ledger/runs.ts';
import { filesIn, isComplete, type Outcome, putAway, QUIET_MS, type SeenFile } from '../src/orders/folder.ts';
import { ordersOptions } from '../src/orders/options.ts';
import { receiveLoad } from '../src/orders/receive-load.ts';
import { writeResults } from '../src/orders/results.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';

const watchOptions = ordersOptions.omit({ confirm: true }).extend({
  /** Absolute. */
  folder: z.string(),
  map: z.partialRecord(z.enum(FIELDS), z.string()).optional(),
});

type Context = JobContext<z.infer<typeof watchOptions>>;

/** What the run keeps of the folder between two looks. */
const checkpointSchema = z.object({
  lookedAtMs: z.number().default(0),
  seen: z.array(z.object({ name: z.string(), sizeBytes: z.number(), modifiedMs: z.number() })).default([]),
  loads: z.record(z.string(), z.string()).default({}),
});
type Checkpoint = z.infer<typeof checkpointSchema>;

const LOOK_MS = 1_000;

export const watchOrders = defineJob({
  name: 'watch-orders',
  summary: 'loads the files of orders that have appeared in a folder',
  options: watchOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, () => look(context)),
});

async function look(context: Context): Promise<JobResult> {
  const { pool, run, options } = context;
  const before = checkpointSchema.parse(run.checkpoint);
  const files = await filesIn(options.folder);
  const nowMs = Date.now();
  const loads: Record<string, string> = { ...before.loads };
  let waiting = 0;
  for (const file of files) {
    if (loads[file.name] !== undefined) continue;
    const earlier = before.seen.find(({ name }) => name === file.name);
    if (!isComplete(file, earlier, before.lookedAtMs, nowMs)) {
      waiting++;
      continue;
    }
    const taken = await takeIn(context, file);
    if (taken !== undefined) loads[file.name] = taken;
    await keep(context, { ...before, loads });
  }
  const isQuiet = nowMs - before.lookedAtMs >= QUIET_MS;
  const seen = isQuiet ? files.map((file) => ({ ...file })) : before.seen;
  const lookedAtMs = isQuiet ? nowMs : before.lookedAtMs;
  for (const [name, id] of Object.entries(loads)) {
    if (await isOver(context, name, await readRun(pool, id))) delete loads[name];
  }
  await keep(context, { lookedAtMs, seen, loads });
  return waiting + Object.keys(loads).length > 0 ? { status: 'again', inMs: LOOK_MS } : { status: 'finished' };
}

/** Its load's run; undefined where the file is none that can be loaded, and was put away. */
async function takeIn(
  { pool, run, account, options, signal }: Context,
  { name }: SeenFile,
): Promise<string | undefined> {
  const { folder, map = {}, existing, createCustomers } = options;
  const told = FIELDS.flatMap((field): [Field, string][] => (map[field] === undefined ? [] : [[field, map[field]]]));
  try {
    const { begun } = await receiveLoad(pool, {
      account,
      source: path.join(folder, name),
      choices: { map: new Map(told) },
      options: { existing, createCustomers, confirm: false },
      lane: run.lane,
      dryRun: run.dryRun,
      spoolDir: os.tmpdir(),
      signal,
    });
    if (begun.status === 'finished') await addNote(pool, run.id, `${name} was loaded before, as run ${begun.run.id}`);
    return begun.run.id;
  } catch (error) {
    if (!(error instanceof LockstepError) || error.exitCode !== 2) throw error;
    await addNote(pool, run.id, `${name} cannot be loaded: ${error.message}`);
    if (run.dryRun) return undefined;
    const target = await putAway(folder, name, 'failed');
    await writeFile(`${target}.problem.txt`, `${error.code}: ${error.message}\n`);
    return undefined;
  }
}

/** Whether a file's load has ended; then the file is put away with its results. */
async function isOver({ pool, run, options }: Context, name: string, load: Run): Promise<boolean> {
  if (load.status === 'running') return false;
  if (load.status === 'paused') {
    await addNote(pool, run.id, `${name} waits for a person: ${load.error ?? 'its load is paused'} (run ${load.id})`);
    return false;
  }
  if (!run.dryRun) {
    const outcome: Outcome = load.status === 'done' ? 'done' : 'failed';
    const target = await putAway(options.folder, name, outcome);
    await writeResults(pool, load.id, path.dirname(target));
  }
  await addNote(pool, run.id, `${name}: ${load.status}, run ${load.id}`);
  return true;
}

async function keep({ pool, run }: Context, checkpoint: Checkpoint): Promise<void> {
  await recordProgress(pool, run.id, { checkpoint });
}
