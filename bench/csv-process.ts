/** Reads a CSV once and reports over IPC: all of it (receive, read, map, validate), or PapaParse alone. */
import path from 'node:path';
import { decodeText } from '../src/csv/encoding.ts';
import { parseBlock } from '../src/csv/parser.ts';
import { type Received, receive } from '../src/csv/receive.ts';
import { checkedRows, examineSheet } from '../src/csv/sheet.ts';
import { peakMemoryMb } from './cost.ts';

export interface CsvFigures {
  readonly rows: number;
  readonly valid: number;
  readonly tookMs: number;
  readonly peakRssMb: number;
}

const [what = '', file = ''] = process.argv.slice(2);
const began = performance.now();
const received = await receive(file, { spoolDir: path.dirname(file) });
const counts = what === 'papaparse' ? await parsed(received) : await checked(received);
const figures: CsvFigures = {
  ...counts,
  tookMs: performance.now() - began,
  peakRssMb: await peakMemoryMb(),
};
process.send?.(figures);
process.disconnect();

async function checked(from: Received): Promise<Pick<CsvFigures, 'rows' | 'valid'>> {
  const sheet = examineSheet(from);
  let [rows, valid] = [0, 0];
  for await (const batch of checkedRows(from, sheet)) {
    for (const { status } of batch) {
      rows += 1;
      if (status === 'valid') valid += 1;
    }
  }
  return { rows, valid };
}

async function parsed(from: Received): Promise<Pick<CsvFigures, 'rows' | 'valid'>> {
  let rest = '';
  let rows = -1;
  for await (const text of decodeText(from.read(), 'utf-8')) {
    const block = parseBlock(rest + text, { delimiter: ',', quote: '"', newline: '\n' }, false);
    rest = (rest + text).slice(block.taken);
    rows += block.rows.length;
  }
  return { rows, valid: 0 };
}
