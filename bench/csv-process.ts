/** One reading of a CSV, told over IPC: all of it (receive, read, map, validate, repeats), or PapaParse alone. */
import path from 'node:path';
import { decodeText } from '../src/csv/encoding.ts';
import { parseBlock } from '../src/csv/parser.ts';
import { type Received, receive } from '../src/csv/receive.ts';
import { RepeatFinder } from '../src/csv/repeats.ts';
import { checkedRows, examine, validatorOf } from '../src/csv/sheet.ts';

export interface CsvFigures {
  readonly rows: number;
  readonly valid: number;
  readonly repeats: number;
  readonly tookMs: number;
  readonly peakRssMiB: number;
}

const [what = '', file = ''] = process.argv.slice(2);
const began = performance.now();
const received = await receive(file, { spoolDir: path.dirname(file) });
const counts = what === 'papaparse' ? await parsed(received) : await checked(received);
const figures: CsvFigures = {
  ...counts,
  tookMs: performance.now() - began,
  peakRssMiB: process.resourceUsage().maxRSS / 1024,
};
process.send?.(figures);
process.disconnect();

async function checked(from: Received): Promise<Pick<CsvFigures, 'rows' | 'valid' | 'repeats'>> {
  const sheet = examine(from);
  const finder = new RepeatFinder(path.dirname(file));
  let [rows, valid, repeats] = [0, 0, 0];
  for await (const batch of checkedRows(from, sheet, validatorOf(sheet))) {
    for (const { status, line, values } of batch) {
      rows += 1;
      if (status === 'valid') valid += 1;
      if (finder.add(line, values, status === 'valid')) await finder.flush();
    }
  }
  for await (const _ of finder.repeats()) repeats += 1;
  await finder.close();
  return { rows, valid, repeats };
}

async function parsed(from: Received): Promise<Pick<CsvFigures, 'rows' | 'valid' | 'repeats'>> {
  let rest = '';
  let rows = -1;
  for await (const text of decodeText(from.read(), 'utf-8')) {
    const block = parseBlock(rest + text, { delimiter: ',', quote: '"', newline: '\n' }, false);
    rest = (rest + text).slice(block.taken);
    rows += block.rows.length;
  }
  return { rows, valid: 0, repeats: 0 };
}
