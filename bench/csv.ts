/** Reading and validating a CSV of 100,000 and of 1,000,000 rows, each in a process of its own: rows a second, peak memory. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { CsvFigures } from './csv-process.ts';
import { figuresOf, median, run } from './processes.ts';
import type { Row } from './table.ts';

const FEW = 100_000;
const MANY = 1_000_000;
const WANTED_A_SECOND = 150_000;
const TIMES = 5;

export async function csv(): Promise<readonly Row[]> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  try {
    const few = await written(dir, FEW);
    const many = await written(dir, MANY);
    const small = await typical('all', few.file);
    const large = await typical('all', many.file);
    const bare = await typical('papaparse', many.file);
    const growth = large.peakRssMb / small.peakRssMb;
    return [
      speed(`${count(FEW)} rows, ${few.megabytes} MB: read, mapped, validated`, small),
      speed(`${count(MANY)} rows, ${many.megabytes} MB: the same`, large),
      {
        what: 'of that time: PapaParse, with reading and decoding',
        wanted: '-',
        got: `${((bare.tookMs / large.tookMs) * 100).toFixed(0)}% (alone ${count(perSecond(bare))} rows/s)`,
        isMet: true,
      },
      {
        what: `peak RSS, ${count(FEW)} and ${count(MANY)} rows (that of a whole load is measured by orders-million)`,
        wanted: '-',
        got: `${small.peakRssMb.toFixed(0)} and ${large.peakRssMb.toFixed(0)} MB: × ${growth.toFixed(2)}`,
        isMet: true,
      },
    ];
  } finally {
    await fs.rm(dir, { recursive: true, force: true });
  }
}

function speed(what: string, figures: CsvFigures): Row {
  const isRight = figures.valid === figures.rows;
  return {
    what,
    wanted: `≥ ${count(WANTED_A_SECOND)} rows/s`,
    got: `${count(perSecond(figures))} rows/s${isRight ? '' : ', WRONG COUNTS'}`,
    isMet: isRight && perSecond(figures) >= WANTED_A_SECOND,
  };
}

/** The medians of a few runs. */
async function typical(what: 'all' | 'papaparse', file: string): Promise<CsvFigures> {
  const all: CsvFigures[] = [];
  for (let i = 0; i < TIMES; i += 1) {
    all.push(await figuresOf<CsvFigures>(run('csv-process', [what, file])));
  }
  const tookMs = median(all.map((figures) => figures.tookMs));
  const peakRssMb = median(all.map((figures) => figures.peakRssMb));
  return { rows: 0, valid: 0, ...all[0], tookMs, peakRssMb };
}

/** Orders as they come: every tenth description quoted, amounts in thousands quoted. */
async function written(dir: string, rows: number): Promise<{ readonly file: string; readonly megabytes: string }> {
  const file = path.join(dir, `${rows}.csv`);
  const handle = await fs.open(file, 'w');
  let text = 'order_id,client_id,description,amount,status\n';
  for (let n = 1; n <= rows; n += 1) {
    const description = n % 10 === 0 ? `"Parts, 5"" for order ${n}"` : `Parts for order number ${n}`;
    text += `A-${100_000 + n},${1 + (n % 5000)},${description},"1,${100 + (n % 900)}.${10 + (n % 90)}",open\n`;
    if (text.length < 1_000_000 && n < rows) continue;
    await handle.appendFile(text);
    text = '';
  }
  const { size } = await handle.stat();
  await handle.close();
  return { file, megabytes: (size / 1_000_000).toFixed(0) };
}

const perSecond = ({ rows, tookMs }: CsvFigures) => (rows / tookMs) * 1000;
const count = (value: number) => Math.round(value).toLocaleString('en');
