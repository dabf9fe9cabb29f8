/** Shows how a file would be loaded, before anything of it is stored. */
import type pg from 'pg';
import { LockstepError } from '../../base/errors.ts';
import type { MappedColumn } from '../../csv/cell-source.ts';
import { UnclearFile } from '../../csv/column-errors.ts';
import { decodeSample, detectEncoding, type Encoding } from '../../csv/encoding.ts';
import { readPresets } from '../../csv/presets.ts';
import { type FileSource, type Received, receive } from '../../csv/receive.ts';
import { checkedRows, examineSheet, type Sheet } from '../../csv/sheet.ts';
import { examineTable, otherFormatOf, type Table } from '../../csv/table.ts';
import type { CheckedRow } from '../../csv/validate.ts';
import { correctionOfFile } from '../../engine/ledger/matching/corrections.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { findLoad } from './begin-load.ts';
import { type LoadIdentity, loadFingerprint, loadIdOf } from './load-spec.ts';
import type { FileLoad } from './receive-load.ts';
import { rememberedColumns } from './remembered-columns.ts';

export interface Preview {
  readonly file: Pick<Received, 'sizeBytes' | 'isGzip'>;
  readonly table: Table;
  /** The first rows, as many as were looked at. */
  readonly firstRows: readonly (readonly string[])[];
  /** The first lines as they are in the file, to find its header. */
  readonly firstLines: readonly string[];
  /** Undefined if its columns cannot be used yet: `problem` says why. */
  readonly sheet: Sheet | undefined;
  readonly problem: LockstepError | undefined;
  /** The columns that fill a field; with a problem, those that were found all the same. */
  readonly columns: readonly MappedColumn[];
  /** The first rows as a load checks them; undefined without a sheet. */
  readonly checked: FirstCheck | undefined;
  /** The load of the same file, read in the same way. */
  readonly earlier: Run | undefined;
  /** The load that has the corrected lines of such a load, also if a person did not approve it. */
  readonly correction: string | undefined;
  /** Names of the presets that there are. */
  readonly presets: readonly string[];
}

export interface FirstCheck {
  readonly rows: number;
  /** Those that would not be loaded. */
  readonly invalid: readonly Extract<CheckedRow, { status: 'invalid' }>[];
}

/** A load checks all rows; before that, this many are checked. */
const CHECKED_FIRST = 1_000;

type Previewed = LoadIdentity & Pick<FileLoad, 'choices' | 'presetsDir' | 'spoolDir' | 'signal'>;

/** @throws LockstepError like receiving a file, and like reading it as a table */
export async function previewLoad(pool: pg.Pool, source: FileSource, load: Previewed): Promise<Preview> {
  const received = await receive(source, { spoolDir: load.spoolDir, signal: load.signal });
  try {
    const { firstRows, ...table } = examineTable(received, load.choices);
    const recalled = await rememberedColumns(pool, load.account.scope);
    const recall = (signature: string) => recalled.get(signature);
    const presets = await readPresets(load.presetsDir);
    const firstLines = linesOf(received, table.encoding.encoding);
    const read = { file: received, table, firstRows, firstLines, presets: presets.map(({ name }) => name) };
    try {
      const sheet = examineSheet(received, { ...load.choices, presets, recall });
      const loadId = loadIdOf(load, sheet, await loadFingerprint(pool, load, received));
      const identity = { scope: load.account.scope, loadId };
      const [earlier, correction] = await Promise.all([findLoad(pool, identity), correctionOfFile(pool, identity)]);
      const { columns } = sheet.mapping;
      const checked = await checkFirst(received, sheet);
      return { ...read, sheet, columns, problem: undefined, earlier, correction, checked };
    } catch (problem) {
      if (!(problem instanceof LockstepError)) throw problem;
      const columns = problem instanceof UnclearFile ? problem.columns : [];
      const none = { sheet: undefined, earlier: undefined, correction: undefined, checked: undefined };
      return { ...read, ...none, columns, problem };
    }
  } finally {
    await received.close();
  }
}

async function checkFirst(received: Received, sheet: Sheet): Promise<FirstCheck> {
  const invalid: FirstCheck['invalid'][number][] = [];
  let rows = 0;
  for await (const checked of checkedRows(received, sheet)) {
    const first = checked.slice(0, CHECKED_FIRST - rows);
    rows += first.length;
    invalid.push(...first.filter((row) => row.status === 'invalid'));
    if (rows === CHECKED_FIRST) break;
  }
  return { rows, invalid };
}

/** The first lines of a file that is not a table as it is read now. @throws LockstepError like receiving a file */
export async function firstLinesOf(
  source: FileSource,
  { choices, spoolDir, signal }: Pick<Previewed, 'choices' | 'spoolDir' | 'signal'>,
): Promise<readonly string[]> {
  const received = await receive(source, { spoolDir, signal });
  try {
    return linesOf(received, detectEncoding(received, choices.encoding).encoding);
  } finally {
    await received.close();
  }
}

const FIRST_LINES = 10;

function linesOf({ sample }: Received, encoding: Encoding): readonly string[] {
  const text = decodeSample(sample, encoding);
  return otherFormatOf(text) === undefined && text.trim() !== '' ? text.split(/\r\n|\r|\n/, FIRST_LINES) : [];
}
