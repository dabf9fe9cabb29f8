/**
 * Receives a file as a load: reads and examines it, checks every row without a call, stages all rows, and releases the load.
 * The command line uses it, and so does the watcher of folders.
 */
import type pg from 'pg';
import { boundedPipeline } from '../../base/bounded-pipeline.ts';
import { firstOf } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { pause } from '../../base/pause.ts';
import { storable } from '../../base/texts.ts';
import { Overview } from '../../csv/overview.ts';
import { readPresets } from '../../csv/presets.ts';
import { type FileSource, type Received, receive } from '../../csv/receive.ts';
import { checkedRows, examineSheet, type Sheet, type SheetChoices } from '../../csv/sheet.ts';
import { type CheckedRow, type Problem, RowValidator } from '../../csv/validate.ts';
import { prepareSetWork } from '../../engine/ledger/match-index.ts';
import {
  copiedLines,
  type Found,
  settleRepeats,
  sharedOrderIds,
} from '../../engine/ledger/matching/repeated-orders.ts';
import { loadedBefore } from '../../engine/ledger/repeated-loads.ts';
import { addNote, type Run, recordLeftOut } from '../../engine/ledger/runs.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { type BegunLoad, beginLoad, type LoadSpec, releaseLoad } from './begin-load.ts';
import { labelsFor, loadFingerprint, type Specified, specOf } from './load-spec.ts';
import { rememberedColumns } from './remembered-columns.ts';
import { repeatsWords, Sample } from './repeated-content.ts';
import { Batch, noteReceiving, type StagedRow, stageRows } from './staging.ts';

export interface FileLoad extends Specified {
  /** A path, or `-` for stdin; or an open file, which is closed at the end. */
  readonly source: FileSource;
  readonly choices: Omit<SheetChoices, 'presets' | 'recall'>;
  /** The directory with the user's own presets. */
  readonly presetsDir?: string;
  /** Where the content of stdin is stored. */
  readonly spoolDir: string;
  readonly signal: AbortSignal;
  /** Called with the way the file was read, before it is staged. */
  readonly onSheet?: (sheet: Sheet, received: Received) => void;
  /** Called with how many lines of the file were checked so far. */
  readonly onProgress?: (lines: number) => void;
  /** Called while another process receives the same file. */
  readonly onWaiting?: () => void;
}

export interface ReceivedLoad {
  readonly begun: BegunLoad;
  /** Hex, of the bytes that were received. */
  readonly sha256: string;
  /** Rows that were checked, if the load is new; an order of several lines is one. */
  readonly rows: number;
  readonly lines: number;
  /** The first warnings about valid rows in the order of the file, if the load is new. */
  readonly warnings: readonly Problem[];
  /** What a person should know about the orders, if the load is new; the run has the same notes. */
  readonly notes: readonly string[];
}

const SHOWN_WARNINGS = 10;
const LOOK_MS = 300;
const NOTE_MS = 1_000;

type Staged = Omit<ReceivedLoad, 'begun' | 'sha256'>;

const NOTHING_STAGED: Staged = { rows: 0, lines: 0, warnings: [], notes: [] };

/**
 * Leaves nothing of a load that was not received whole, except its run if a person cancelled it.
 * @throws LockstepError like receiving, examining and beginning
 */
export async function receiveLoad(pool: pg.Pool, load: FileLoad): Promise<ReceivedLoad> {
  const received = await receive(load.source, { spoolDir: load.spoolDir, signal: load.signal });
  try {
    const presets = await readPresets(load.presetsDir);
    const recalled = await rememberedColumns(pool, load.account.scope);
    const sheet = examineSheet(received, { ...load.choices, presets, recall: (signature) => recalled.get(signature) });
    load.onSheet?.(sheet, received);
    const fingerprint = await loadFingerprint(pool, load, received);
    const { sha256 } = received;
    const begun = await beginOrJoin(pool, specOf(load, received, sheet, fingerprint), load);
    if (begun.status !== 'new') return { begun, sha256, ...NOTHING_STAGED };
    const staged = await stageAll(pool, begun.run, load, received, sheet, labelsFor(load, fingerprint));
    return { begun, sha256, ...staged, notes: [...staged.notes, ...(await noteRepeat(pool, begun.run.id))] };
  } finally {
    await received.close();
  }
}

/** Waits while another process receives the same file: then there is a load to join. */
async function beginOrJoin(pool: pg.Pool, spec: LoadSpec, { signal, onWaiting }: FileLoad): Promise<BegunLoad> {
  for (;;) {
    try {
      return await beginLoad(pool, spec);
    } catch (error) {
      if (!(error instanceof LockstepError) || error.code !== 'LOAD_BEING_RECEIVED' || signal.aborted) throw error;
      onWaiting?.();
      await pause(LOOK_MS, signal);
    }
  }
}

async function stageAll(
  pool: pg.Pool,
  run: Run,
  load: FileLoad,
  received: Received,
  sheet: Sheet,
  labels: string,
): Promise<Staged> {
  const warnings: Problem[] = [];
  const validator = new RowValidator(sheet);
  const overview = new Overview(sheet);
  const sample = new Sample();
  const staging = boundedPipeline();
  let notedAtMs = performance.now();
  const batch = new Batch();
  const stage = async () => {
    const full = batch.take();
    await staging.begin(() => stageRows(pool, run, full, labels));
  };
  let [rows, lines] = [0, 0];
  try {
    for await (const checked of checkedRows(received, sheet, validator, overview)) {
      load.signal.throwIfAborted();
      for (const row of checked) {
        if (row.status === 'valid') warnings.push(...row.warnings.slice(0, SHOWN_WARNINGS - warnings.length));
        sample.add(row);
        batch.add(toStagedRow(row));
        lines += row.lines?.length ?? 1;
        if (batch.isFull) await stage();
      }
      rows += checked.length;
      if (performance.now() - notedAtMs > NOTE_MS) {
        notedAtMs = performance.now();
        await noteReceiving(pool, run.id, rows);
      }
      load.onProgress?.(lines);
    }
    await stage();
    await staging.end();
    await noteReceiving(pool, run.id, rows);
    const repeats = await inTransaction(pool, async (db) => {
      await prepareSetWork(db, run.id);
      await settleRepeats(db, run.id, { labels, isCombining: sheet.combine !== undefined });
      return [...sharedWords(await sharedOrderIds(db, run.id, labels)), ...copiedWords(await copiedLines(db, run.id))];
    });
    const notes = [...overview.notes(validator.currencies).map((note) => storable(note)), ...repeats];
    for (const note of notes) await addNote(pool, run.id, note);
    if (overview.doubt !== undefined) await holdLoad(pool, run.id, overview.doubt);
    if (sheet.where.length > 0) await recordLeftOut(pool, run.id, { orders: overview.leftOut });
    await releaseLoad(pool, run.id, sample.hashes());
    return { rows, lines, warnings, notes };
  } catch (error) {
    await staging.end().catch(() => {}); // the first error is reported
    await pool.query(`delete from ledger.runs where id = $1 and status <> 'cancelled'`, [run.id]); // nothing of it was sent
    if (await isCancelled(pool, run.id)) return NOTHING_STAGED;
    throw error;
  }
}

async function isCancelled(pool: pg.Pool, runId: string): Promise<boolean> {
  const found = await pool.query(`select from ledger.runs where id = $1 and status = 'cancelled'`, [runId]);
  return found.rowCount === 1;
}

/** Says, and notes, that an earlier load seems to have the same orders. */
async function noteRepeat(pool: pg.Pool, runId: string): Promise<readonly string[]> {
  const repeat = await loadedBefore(pool, runId);
  if (repeat === undefined) return [];
  const repeats = repeatsWords(repeat);
  await addNote(pool, runId, repeats);
  return [repeats];
}

/** Approval is asked for one doubt; what the columns say comes first. */
async function holdLoad(pool: pg.Pool, runId: string, doubt: string): Promise<void> {
  await pool.query(`update ledger.runs set options = jsonb_build_object('doubt', $2::text) || options where id = $1`, [
    runId,
    doubt,
  ]);
}

function sharedWords(found: Found): readonly string[] {
  if (found.count === 0) return [];
  return [
    `orders of different customers have the same order_id (${firstOf(found.first, found.count)}), and each counts as an order of its own`,
  ];
}

/** Two equal items of an order are two equal lines. */
function copiedWords(found: Found): readonly string[] {
  if (found.count === 0) return [];
  return [
    `lines with the order_id and content of an earlier line are not sent, because they seem to be the same order: ${found.count === 1 ? 'line' : 'lines'} ${firstOf(found.first, found.count)}. If they are items of one order, and each line has the amount of its item, combine the lines when you load the file (\`--combine-lines sum\`)`,
  ];
}

function toStagedRow(row: CheckedRow): StagedRow {
  const { line, cells, lines, values } = row;
  if (row.status === 'valid') return { line, cells, lines, values };
  const [first, ...also] = row.problems.filter(({ severity }) => severity === 'error');
  const causes = also.map(({ code, facts }) => ({ code, facts }));
  const facts = { ...first?.facts, ...(causes.length > 0 && { also: causes }) };
  return { line, cells, lines, label: row.label, values, problem: { code: first?.code ?? 'INVALID', facts } };
}
