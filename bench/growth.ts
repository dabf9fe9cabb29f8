/**
 * How the cost of a row grows with their number, from a thousand to a million: loads of orders for as many customers as a tenth
 * of the rows, and syncs of contacts, new and unchanged. A row of a large load costs what a row of a small one does, or less.
 * PICTURE=FILE writes the curves as SVG.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Cost } from './cost.ts';
import { startLoad } from './orders-bench.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { FREE_BUDGET, openBench, run } from './processes.ts';
import { svgOf } from './small-charts.ts';
import type { Row } from './table.ts';

const FIRST = 1_000;
const LAST = 100_000;
const STEP = 10;
/** From ten thousand rows on: below that, what a run does once counts for more. */
const MAX_GROWTH = 1.3;

interface Grown {
  readonly rows: number;
  readonly ms: number;
  readonly calls: number;
  readonly cost: Cost;
  readonly peakRssMb: number;
  readonly ledgerBytes: number;
}

export async function growth(last = LAST): Promise<readonly Row[]> {
  const sizes: number[] = [];
  for (let size = FIRST; size <= last; size *= STEP) sizes.push(size);
  const loads: Grown[] = [];
  const syncs: [new: Grown, unchanged: Grown][] = [];
  for (const size of sizes) loads.push(reported(await load(size)));
  for (const size of sizes) syncs.push(reported(await sync(size)));
  const curves = {
    'orders loaded': loads,
    'new contacts synced': syncs.map(([first]) => first),
    'unchanged contacts synced': syncs.map(([, second]) => second),
  };
  const { PICTURE } = process.env;
  if (PICTURE) await writeFile(PICTURE, pictureOf(curves));
  return Object.entries(curves).flatMap(([what, grown]) => curve(what, grown));
}

/** Prints the figures of each size at once: the largest takes a quarter of an hour, and may fail. */
function reported<T extends Grown | [Grown, Grown]>(grown: T): T {
  process.stderr.write(`${JSON.stringify(grown)}\n`);
  return grown;
}

const FIGURES: Readonly<Record<string, (grown: Grown) => number>> = {
  'time a row in ms': ({ ms, rows }) => ms / rows,
  'CPU of the worker a row in µs': ({ cost, rows }) => (cost.nodeCpuMs * 1000) / rows,
  'CPU of Postgres a row in µs': ({ cost, rows }) => (cost.postgresCpuMs * 1000) / rows,
  'peak RSS of the worker in MB': ({ peakRssMb }) => peakRssMb,
  'WAL a row in bytes': ({ cost, rows }) => cost.walBytes / rows,
  'calls a row': ({ calls, rows }) => calls / rows,
};

function pictureOf(curves: Readonly<Record<string, readonly Grown[]>>): string {
  const [one = []] = Object.values(curves);
  const sizes = one.map(({ rows }) => rows.toLocaleString('en')).join(', ');
  return svgOf({
    title: `What a row costs in runs of ${sizes} rows`,
    heading: `Runs of ${sizes} rows`,
    series: Object.keys(curves),
    charts: Object.entries(FIGURES).map(([name, figure]) => ({
      name,
      lines: Object.fromEntries(Object.entries(curves).map(([what, grown]) => [what, grown.map(figure)])),
    })),
  });
}

async function load(rows: number): Promise<Grown> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const customers = Array.from({ length: rows / 10 }, (_, i) => i + 1);
  const service = run('orders-tiny-process', [String(customers.length)]);
  try {
    const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
    const file = path.join(dir, 'orders.csv');
    await writeSheet(file, { from: 0, to: rows }, customers);
    const loaded = await startLoad({ dataDir: path.join(dir, 'data'), url, key: 'bench', budget: FREE_BUDGET, file });
    if (loaded.created !== rows) throw new Error(`the load created ${loaded.created} of ${rows} orders`);
    return { rows, ...loaded };
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

async function sync(rows: number): Promise<[new: Grown, unchanged: Grown]> {
  const bench = await openBench();
  try {
    await bench.start({});
    const { runs, ...whole } = await bench.sync(await bench.tenant(rows), { times: 2 });
    const [first, second] = runs;
    if (!first || !second || second.created > 0) throw new Error('the second sync was not one without changes');
    return [
      { rows, ...first, ...whole },
      { rows, ...second, ...whole },
    ];
  } finally {
    await bench.close();
  }
}

function curve(what: string, grown: readonly Grown[]): readonly Row[] {
  return grown.map(({ rows, ms, calls, cost, peakRssMb, ledgerBytes }, n) => {
    const each = (of: number) => ((of * 1000) / rows).toFixed(0);
    const before = grown[n - 1];
    const growthOf = before && before.rows > FIRST ? cpuOf({ rows, cost }) / cpuOf(before) : undefined;
    return {
      what: `${rows} ${what}`,
      wanted: growthOf === undefined ? '-' : `CPU a row ≤ ${MAX_GROWTH} ×`,
      got:
        `${growthOf === undefined ? '' : `${growthOf.toFixed(2)} ×; `}${(ms / 1000).toFixed(1)} s; ` +
        `a row: worker ${each(cost.nodeCpuMs)} µs, Postgres ${each(cost.postgresCpuMs)} µs, WAL ${(cost.walBytes / rows).toFixed(0)} B, ` +
        `ledger ${(ledgerBytes / rows).toFixed(0)} B; RSS ${peakRssMb.toFixed(0)} MB; ${calls} calls`,
      isMet: growthOf === undefined || growthOf <= MAX_GROWTH,
    };
  });
}

function cpuOf({ rows, cost }: Pick<Grown, 'rows' | 'cost'>): number {
  return (cost.nodeCpuMs + cost.postgresCpuMs) / rows;
}
