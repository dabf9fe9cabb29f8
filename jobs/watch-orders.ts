/**
 * Loads each order file of a folder once. It moves every complete file aside, so that the file it checked is the file it
 * loads, waits for the loads, and moves each file to done/ or failed/ with its results beside it. Each file is a row of
 * the run. The next run takes files that arrive during a run.
 */
import os from 'node:os';
import path from 'node:path';
import type { z } from 'zod';
import { LockstepError } from '../src/base/errors.ts';
import type { Folder } from '../src/base/open-folder.ts';
import { PLAIN_HINTS, sentenceFor } from '../src/base/reasons/reasons.ts';
import { FIELDS, type Field } from '../src/csv/fields.ts';
import { RunFailed } from '../src/engine/account/failure.ts';
import { awaitsApproval, NOT_APPROVED } from '../src/engine/ledger/approval.ts';
import { endRun, resumeRun } from '../src/engine/ledger/run-status.ts';
import { addNote, type Run, readRun, recordProgress } from '../src/engine/ledger/runs.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import type { Queryable } from '../src/storage/queryable.ts';
import {
  changedWhileLoading,
  type FileVerdict,
  fileRefusal,
  saidBy,
  settleFile,
  verdictOfLoad,
} from '../src/syncs/orders/file-verdict.ts';
import {
  entriesIn,
  isComplete,
  openSeen,
  openWatched,
  pathOf,
  type SeenFile,
  sameSince,
  see,
} from '../src/syncs/orders/folder.ts';
import { watchOptions } from '../src/syncs/orders/options.ts';
import { receiveLoad } from '../src/syncs/orders/receive-load.ts';
import { writeResults } from '../src/syncs/orders/results.ts';
import { newFileId, type Outcome, TakenFiles } from '../src/syncs/orders/taken-files.ts';
import { checkpointSchema, type WatchedFile } from '../src/syncs/orders/watch-checkpoint.ts';

type JobNeeds = JobContext<z.infer<typeof watchOptions>> & { readonly exclusive: Exclusive };
interface Context extends JobNeeds {
  readonly folder: Folder;
  readonly taken: TakenFiles;
  /** Files that are not finished, by id. */
  readonly files: Map<string, WatchedFile>;
}

const LOOK_MS = 500;
/** Files of one run; the checkpoint holds them all. */
const MOST_FILES = 1_000;

export const watchOrders = defineJob({
  name: 'watch-orders',
  options: watchOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => look({ ...context, exclusive }).catch(asFailure)),
});

async function look(needs: JobNeeds): Promise<JobResult> {
  const { run, options, pool } = needs;
  const folder = await openWatched(options.folder);
  const taken = new TakenFiles(folder, run.id);
  try {
    await taken.check();
    const { isListed, files } = checkpointSchema.parse((await readRun(pool, run.id)).checkpoint);
    const context: Context = { ...needs, folder, taken, files: new Map(Object.entries(files)) };
    if (!isListed) await list(context);
    for (const [id, file] of [...context.files]) await continueFile(context, id, file);
    if (context.files.size > 0) return { status: 'again', inMs: LOOK_MS };
    await needs.exclusive.transaction((db) => endRun(db, run.id, 'done'));
    return { status: 'finished' };
  } finally {
    await taken.close();
    await folder.close();
  }
}

/** The operator has to fix an unusable folder or a full disk. */
function asFailure(error: unknown): never {
  if (!(error instanceof LockstepError) || !FIXED_BY_PEOPLE.has(error.code)) throw error;
  throw new RunFailed(error.code, error.message, { cause: error });
}

const FIXED_BY_PEOPLE = new Set([
  'FOLDER_UNREADABLE',
  'FOLDER_UNSAFE',
  'FOLDER_UNWRITABLE',
  'DISK_FULL',
  'RESULTS_NOT_WRITTEN',
  'PRESET_INVALID',
  'PRESETS_UNREADABLE',
]);

/** A run takes the files that exist when it starts, so that it ends even if more keep arriving. */
async function list(context: Context): Promise<void> {
  const { pool, run, folder, taken, files } = context;
  const left = run.dryRun ? [] : await taken.takeOver((other) => isOver(pool, other));
  const nowMs = Date.now();
  const known = (seen: SeenFile) => ({
    name: seen.name,
    version: seen.version,
    sinceMs: sameSince(seen, nowMs),
    isBefore: false,
  });
  for (const file of left) files.set(file.id, known(file));
  const entries = await entriesIn(folder);
  const more = entries.length - MOST_FILES;
  if (more > 0)
    await addNote(
      pool,
      run.id,
      `the folder had more than ${MOST_FILES} files: the next run loads the others (${more})`,
    );
  for (const file of entries.slice(0, MOST_FILES)) files.set(newFileId(), { ...known(file), entry: file.entry });
  await keep(context, pool);
}

async function isOver(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(`select 1 from ledger.runs where id = $1 and status in ('running', 'paused')`, [runId]);
  return found.rowCount === 0;
}

async function keep({ run, files }: Pick<Context, 'run' | 'files'>, db: Queryable): Promise<void> {
  await recordProgress(db, run.id, {
    checkpoint: { job: 'watch-orders', isListed: true, files: Object.fromEntries(files) },
  });
}

/** Advances one file as far as possible without waiting. */
async function continueFile(context: Context, id: string, file: WatchedFile): Promise<void> {
  if (file.end === undefined && file.load === undefined) await begin(context, id, file);
  else if (file.end === undefined) await follow(context, id, file);
  const { end } = context.files.get(id) ?? {};
  if (end) await putAway(context, id, end);
}

/** Moves a complete file aside and starts its load from there. A dry run reads the file in place. */
async function begin(context: Context, id: string, file: WatchedFile): Promise<void> {
  const { run, folder, taken } = context;
  const { entry, name } = file;
  const aside = await taken.find(id);
  const seen = aside ?? (entry === undefined ? undefined : await see(pathOf(folder, entry), name));
  if (!seen) return forget(context, id); // the file was removed
  if (seen.oddity !== undefined) return refuseOdd(context, id, seen.oddity, aside !== undefined);
  if (seen.version !== file.version) return leaveToNextRun(context, id, name);
  if (!isComplete(seen, Date.now() - file.sinceMs)) return;
  if (entry !== undefined && run.dryRun) return receive(context, id, file, { seen, at: pathOf(folder, entry) });
  const ready = aside ?? (entry === undefined ? undefined : await taken.take(id, { entry, name }));
  // The next check notices if the file was replaced meanwhile.
  if (ready?.version === file.version) await receive(context, id, file, { seen: ready, at: ready.path });
}

/** A link, folder or pipe is never opened. It is left in place, unless it replaced a file that was being moved aside. */
async function refuseOdd(context: Context, id: string, oddity: string, isTaken: boolean): Promise<void> {
  const verdict: FileVerdict = { verdict: 'rejected', reason: 'NOT_A_PLAIN_FILE', facts: { is: oddity } };
  if (isTaken) await end(context, id, verdict, 'failed');
  else await settle(context, id, verdict);
}

async function leaveToNextRun(context: Context, id: string, name: string): Promise<void> {
  await addNote(context.pool, context.run.id, `${name} was still being written: the next run loads it`);
  await forget(context, id);
}

async function receive(
  context: Context,
  id: string,
  file: WatchedFile,
  { seen, at }: { readonly seen: SeenFile; readonly at: string | Buffer },
): Promise<void> {
  const { pool, run, account, options, signal, log } = context;
  const { folder, map = {}, encoding, decimal, accounting, presets, ...asked } = options;
  const told = FIELDS.flatMap((field): [Field, string][] => (map[field] === undefined ? [] : [[field, map[field]]]));
  try {
    const { begun, sha256 } = await receiveLoad(pool, {
      account,
      source: async () => ({ name: path.join(folder, file.name), handle: await openSeen(at, seen) }),
      choices: { map: new Map(told), encoding, decimal, accounting },
      presetsDir: presets,
      options: { ...asked, confirm: false },
      staysDeclined: file.entry === undefined, // an earlier run has put the file aside
      dryRun: run.dryRun,
      spoolDir: os.tmpdir(),
      signal,
    });
    if (begun.status === 'unfinished' && begun.run.status === 'failed') await resumeRun(pool, begun.run.id);
    if (begun.status === 'new') log.info({ sync: begun.run.sync, run: begun.run.id, file: file.name }, 'run started');
    // A load of this file that an interrupted run started does not count as an earlier load.
    const hasEnded = (begun.run.endedAt?.getTime() ?? Number.POSITIVE_INFINITY) < run.createdAt.getTime();
    const isOther = hasEnded || begun.run.title !== file.name;
    const isBefore = begun.status !== 'new' && file.entry !== undefined && isOther;
    context.files.set(id, { ...file, load: begun.run.id, isBefore, sha256 });
    await keep(context, pool);
  } catch (error) {
    if (signal.aborted) throw error;
    const refusal = fileRefusal(error);
    if (refusal === 'changed') return leaveToNextRun(context, id, file.name);
    if (refusal === 'later') return;
    if (refusal === 'not of the file') throw error;
    await end(context, id, { verdict: 'rejected', ...refusal }, 'failed');
  }
}

/** Checks whether a file's load has ended. */
async function follow(context: Context, id: string, file: WatchedFile): Promise<void> {
  const { pool, run, taken, need } = context;
  const load = await readRun(pool, file.load ?? '');
  await need(load.id);
  if (load.status === 'running') return;
  if (load.status === 'paused') {
    // The file stays aside: the next run finds it and its load.
    if (wasPausedBefore(run, load) && file.entry === undefined) return leaveWaiting(context, id, file.name, load);
    const reason = awaitsApproval(load) ? 'LOAD_AWAITS_APPROVAL' : 'LOAD_PAUSED';
    return settle(context, id, { verdict: 'review', reason, facts: saidBy(load) });
  }
  const verdict = await verdictOfLoad(pool, load, context.options, file.isBefore);
  const sha256 = run.dryRun ? undefined : await taken.sha256(id);
  if (sha256 !== undefined && sha256 !== file.sha256) return end(context, id, changedWhileLoading(load), 'failed');
  await end(context, id, verdict, load.status === 'done' ? 'done' : 'failed');
}

function wasPausedBefore(run: Run, load: Run): boolean {
  return load.attendedAt !== undefined && load.attendedAt < run.createdAt;
}

/** An earlier run has reported it, and the load itself is listed as waiting: a row of each run would only repeat that. */
async function leaveWaiting(context: Context, id: string, name: string, load: Run): Promise<void> {
  const why = awaitsApproval(load) ? 'waits for approval' : 'is paused';
  await addNote(context.pool, context.run.id, `${name} is not moved yet: its load ${load.id} ${why}`);
  await forget(context, id);
}

/** Records where a file goes before it is moved. */
async function end(context: Context, id: string, verdict: FileVerdict, outcome: Outcome): Promise<void> {
  const { pool, run, taken, files } = context;
  const file = files.get(id);
  if (!file || run.dryRun) return settle(context, id, verdict);
  const place = await taken.freeName(file.name, outcome);
  const isTold = file.load === undefined || TOLD_BESIDE.has(verdict.reason);
  const hints = { ...PLAIN_HINTS, about: { account: run.account, file: file.name } };
  const sentence = sentenceFor(verdict.reason, verdict.facts, hints);
  const problem = isTold ? `${verdict.reason}: ${sentence}` : undefined;
  files.set(id, { ...file, end: { outcome, place, verdict, ...(problem !== undefined && { problem }) } });
  await keep(context, pool);
}

/** Verdicts that need an explanation beside the file, besides its results. */
const TOLD_BESIDE = new Set(['FILE_CHANGED', 'LOADED_WITH_OTHER_OPTIONS', NOT_APPROVED]);

async function putAway(context: Context, id: string, end: NonNullable<WatchedFile['end']>): Promise<void> {
  const { pool, run, taken, files } = context;
  const load = files.get(id)?.load;
  await taken.putAway(id, end, async (folder, base) => {
    if (load !== undefined) await writeResults(pool, load, { dir: folder.path, folder, base });
  });
  const lacking = load === undefined ? 0 : (await readRun(pool, load)).rowsPruned;
  if (lacking > 0)
    await addNote(pool, run.id, `the results of load ${load} lack older rows (${lacking}), which were deleted`);
  await settle(context, id, end.verdict);
}

/** Ends a file: settles its row and removes it from the run's checkpoint. */
async function settle(context: Context, id: string, verdict: FileVerdict): Promise<void> {
  const { run, files, exclusive } = context;
  const name = files.get(id)?.name ?? '';
  files.delete(id);
  await exclusive.transaction(async (db) => {
    await settleFile(db, run.id, name, verdict);
    await keep(context, db);
  });
}

async function forget(context: Context, id: string): Promise<void> {
  context.files.delete(id);
  await keep(context, context.pool);
}
