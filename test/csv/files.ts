/** Files to be received, in a directory of the test's own, and the results of their rows. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { Overview } from '../../src/csv/overview.ts';
import { type Received, type ReceiveOptions, receive } from '../../src/csv/receive.ts';
import { checkedRows, examineSheet, type Sheet, type SheetChoices } from '../../src/csv/sheet.ts';
import { type CheckedRow, RowValidator } from '../../src/csv/validate.ts';

export async function freshDir(): Promise<string> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'lockstep-csv-'));
  onTestFinished(() => fs.rm(dir, { recursive: true, force: true }));
  return dir;
}

export async function fileOf(content: string | Uint8Array, name = 'orders.csv'): Promise<string> {
  const file = path.join(await freshDir(), name);
  await fs.writeFile(file, content);
  return file;
}

export async function received(content: string | Uint8Array, options: Partial<ReceiveOptions> = {}): Promise<Received> {
  const file = await fileOf(content);
  const opened = await receive(file, { spoolDir: path.dirname(file), ...options });
  onTestFinished(() => opened.close());
  return opened;
}

export interface Loaded {
  readonly sheet: Sheet;
  readonly rows: readonly CheckedRow[];
  readonly validator: RowValidator;
  readonly overview: Overview;
}

/** Receives, examines and checks a whole file. */
export async function loaded(content: string | Uint8Array, choices: SheetChoices = {}): Promise<Loaded> {
  const file = await received(content);
  const sheet = examineSheet(file, choices);
  const validator = new RowValidator(sheet);
  const overview = new Overview(sheet);
  const rows: CheckedRow[] = [];
  for await (const batch of checkedRows(file, sheet, validator, overview)) for (const row of batch) rows.push(row);
  await file.close();
  return { sheet, rows, validator, overview };
}

/** Each row as `line ok` or `line CODE CODE`. */
export function verdicts(rows: readonly CheckedRow[]): readonly string[] {
  return rows.map((row) => {
    const found = row.status === 'valid' ? row.warnings : row.problems;
    return `${row.line} ${row.status === 'valid' ? 'ok' : ''}${found.map(({ code }) => code).join(' ')}`;
  });
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
