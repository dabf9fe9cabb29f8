/**
 * Loads the files of orders that have appeared in a folder, once each: takes in every complete one as a load of its own,
 * waits for the loads, and moves each file to done/ or failed/ with its results beside it. Each file is a row of the run.
 */
import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { FIELDS, type Field } from '../src/csv/fields.ts';
import { LockstepError } from '../src/errors.ts';
import { countRows, reasonsOf, type Verdict } from '../src/ledger/rows.ts';
import { addNote, type Run, readRun, recordProgress, resumeRun } from '../src/ledger/runs.ts';
import { type FileVerdict, settleFile } from '../src/orders/file-rows.ts';
import { filesIn, isComplete, isSame, placeFor, putAway, type SeenFile, sameSince } from '../src/orders/folder.ts';
import { notDoneAsAsked, ordersOptions } from '../src/orders/options.ts';
import { receiveLoad } from '../src/orders/receive-load.ts';
import { writeResults } from '../src/orders/results.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';
import { RunFailed } from '../src/worker/trouble.ts';

const watchOptions = ordersOptions.omit({ confirm: true }).extend({
  /** Absolute. */
  folder: z.string(),
  map: z.partialRecord(z.enum(FIELDS), z.string()).optional(),
});

type Context = JobContext<z.infer<typeof watchOptions>>;

/** What the run knows of a file: since when it is the same, then the run that loads it, until that is over. */
const fileSchema = z.object({
  sizeBytes: z.number(),
  modifiedMs: z.number(),
  sinceMs: z.number(),
  load: z.string().optional(),
  isBefore: z.boolean().default(false),
  isOver: z.boolean().default(false),
});
const checkpointSchema = z.object({ files: z.record(z.string(), fileSchema).default({}) });
type Known = z.infer<typeof fileSchema>;

const LOOK_MS = 500;

export const watchOrders = defineJob({
  name: 'watch-orders',
  summary: 'loads the files of orders that have appeared in a folder',
  options: watchOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, () => look(context).catch(asFailure)),
});

async function look(context: Context): Promise<JobResult> {
  const { pool, run, options } = context;
  const known = new Map(Object.entries(checkpointSchema.parse((await readRun(pool, run.id)).checkpoint).files));
  const keep = () => recordProgress(pool, run.id, { checkpoint: { files: Object.fromEntries(known) } });
  for (const file of await filesIn(options.folder)) {
    const next = await lookAt(context, file, known.get(file.name));
    known.set(file.name, next);
    if (next.load !== undefined || next.isOver) await keep();
  }
  for (const [name, file] of known) {
    if (file.load === undefined || file.isOver) continue;
    await context.need(file.load);
    if (await isOver(context, name, file)) known.set(name, { ...file, isOver: true });
  }
  await keep();
  return [...known.values()].every((file) => file.isOver) ? { status: 'finished' } : { status: 'again', inMs: LOOK_MS };
}

/** A folder that cannot be used, or a full disk, is for a person to mend. */
function asFailure(error: unknown): never {
  if (!(error instanceof LockstepError) || !MENDED_BY_PEOPLE.has(error.code)) throw error;
  throw new RunFailed(error.code, error.message, { cause: error });
}

const MENDED_BY_PEOPLE = new Set(['FOLDER_UNREADABLE', 'FOLDER_UNWRITABLE', 'DISK_FULL', 'RESULTS_NOT_WRITTEN']);

async function lookAt(context: Context, file: SeenFile, known: Known | undefined): Promise<Known> {
  const { sizeBytes, modifiedMs } = file;
  const isNew = known === undefined || (known.isOver && !context.run.dryRun); // the other one has been put away
  if (!isNew && (known.load !== undefined || known.isOver)) return known;
  const nowMs = Date.now();
  const isAsBefore = !isNew && isSame(file, known);
  const fresh = { sizeBytes, modifiedMs, sinceMs: sameSince(file, nowMs), isBefore: false, isOver: false };
  const current = isAsBefore ? known : fresh;
  return isComplete(file, nowMs - current.sinceMs) ? { ...current, ...(await takeIn(context, file)) } : current;
}

/** Its load's run; over at once where the file is none that can be loaded, and was put away. */
async function takeIn(context: Context, { name }: SeenFile): Promise<Partial<Known>> {
  const { pool, run, account, options, signal } = context;
  const { folder, map = {}, existing, createCustomers } = options;
  const told = FIELDS.flatMap((field): [Field, string][] => (map[field] === undefined ? [] : [[field, map[field]]]));
  try {
    const { begun } = await receiveLoad(pool, {
      account,
      source: path.join(folder, name),
      choices: { map: new Map(told) },
      options: { existing, createCustomers, confirm: false },
      dryRun: run.dryRun,
      spoolDir: os.tmpdir(),
      signal,
    });
    if (begun.status === 'unfinished' && begun.run.status === 'failed') await resumeRun(pool, begun.run.id);
    return { load: begun.run.id, isBefore: begun.status === 'finished' };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    const { code, message, exitCode } = error;
    if (NOT_YET.has(code)) return {};
    if (exitCode !== 2) throw error;
    if (!run.dryRun) {
      const place = await placeFor(folder, name, 'failed');
      await writeProblem(place, code, message);
      await putAway(folder, name, place);
    }
    await settleFile(pool, run.id, name, { verdict: 'rejected', reason: code, detail: message });
    return { isOver: true };
  }
}

/** Somebody writes the file, or takes it in, at this moment. */
const NOT_YET = new Set(['CSV_CHANGED', 'LOAD_TAKEN_OVER']);

/** Whether a file's load has ended; then the file is put away with its results. */
async function isOver({ pool, run, options }: Context, name: string, { load: id, isBefore }: Known): Promise<boolean> {
  const load = await readRun(pool, id ?? '');
  if (load.status === 'running') return false;
  if (load.status === 'paused') {
    await addNote(pool, run.id, `${name} waits for a person: ${load.error ?? 'its load is paused'} (run ${load.id})`);
    return false;
  }
  const verdict = await verdictOf({ pool, options }, load, isBefore);
  if (!run.dryRun) {
    const place = await placeFor(options.folder, name, load.status === 'done' ? 'done' : 'failed');
    await writeResults(pool, load.id, path.dirname(place), path.basename(place));
    // Its results are of another time, and look as if they were of this one.
    if (verdict.reason === OTHER_OPTIONS) await writeProblem(place, verdict.reason, verdict.detail);
    await putAway(options.folder, name, place);
  }
  await settleFile(pool, run.id, name, verdict);
  return true;
}

/** The file was loaded by other options than the sync has now. */
const OTHER_OPTIONS = 'LOADED_WITH_OTHER_OPTIONS';

async function writeProblem(place: string, code: string, message: string): Promise<void> {
  await writeFile(`${place}.problem.txt`, `${code}: ${message}\n`);
}

async function verdictOf(
  { pool, options }: Pick<Context, 'pool' | 'options'>,
  load: Run,
  isBefore: boolean,
): Promise<FileVerdict> {
  const words = `run ${load.id}`;
  if (load.status !== 'done') {
    return {
      verdict: 'rejected',
      reason: load.errorCode ?? 'LOAD_CANCELLED',
      detail: `${words}: ${load.error ?? load.status}`,
    };
  }
  const changes = notDoneAsAsked(load, options);
  if (changes.length > 0) {
    const asked = changes.join(' and ');
    const detail = `${words}: the same file was loaded without ${asked}, and its results are of that load. Load it anew with: lockstep orders load FILE --account ${load.account} ${changes.join(' ')} --again`;
    return { verdict: 'review', reason: OTHER_OPTIONS, detail };
  }
  const { in: rows, invalid, rejected, review, unknown } = await countRows(pool, load.id);
  const left = invalid + rejected + review + unknown;
  if (left === 0) {
    if (isBefore) return { verdict: 'existing', reason: 'LOADED_BEFORE', detail: words };
    return { verdict: 'created', reason: 'LOADED', detail: `${words}: all ${rows} rows` };
  }
  const before = isBefore ? 'the same file was loaded before, and ' : '';
  const why = (await reasonsOf(pool, load.id)).filter((one) => LEFT.has(one.verdict));
  const reasons = why.map(({ reason, count }) => `${reason} ${count}`).join(', ');
  const detail = `${words}: ${before}${left} of ${rows} rows were not loaded${reasons && ` (${reasons})`}; they are in the files beside it`;
  return { verdict: 'review', reason: 'ROWS_LEFT', detail };
}

const LEFT: ReadonlySet<Verdict> = new Set(['invalid', 'rejected', 'review', 'unknown']);
