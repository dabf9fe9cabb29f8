/** Ten orders into an account that has very many: time against reading its list, and WAL. The service is a stand-in. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import { phasesOf, startLoad } from './orders-bench.ts';
import type { LoadingFigures } from './orders-load-process.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { FREE_BUDGET, median, run } from './processes.ts';
import { type Row, seconds } from './table.ts';

const FEW = 10;
const CUSTOMERS = 5_000;
const MOST_TIME = 1.5;
const MOST_WAL_MB = 1;

export const fewOrders = () => intoExisting(200_000);
export const fewOrdersAmongAMillion = () => intoExisting(1_000_000);

/** The first load of an account tries how its list shows a new order, and reads the list more often than the next ones. */
async function intoExisting(existing: number): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('orders-tiny-process', [String(CUSTOMERS), '0', String(existing)]);
  try {
    const { url } = await answerOf(service);
    const customers = Array.from({ length: CUSTOMERS }, (_, i) => i + 1);
    const rows: Row[] = [];
    for (const [at, which] of ['first', 'next'].entries()) {
      const file = path.join(dir, `${which}.csv`);
      const from = existing + at * FEW;
      await writeSheet(file, { from, to: from + FEW }, customers);
      const readMs = await readList(url);
      const before = await askReads(service);
      const load = await startLoad({ dataDir: path.join(dir, 'data'), url, key: 'bench', budget: FREE_BUDGET, file });
      if (load.created !== FEW) throw new Error(`the load created ${load.created} orders`);
      const reads = (await askReads(service)) - before;
      rows.push(...rowsOf(`the ${which} ${FEW} orders into an account with ${existing}`, load, { reads, readMs }));
    }
    return rows;
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

/** `reads`: how often the load read the list; `readMs`: the time of one read. */
function rowsOf(
  what: string,
  load: LoadingFigures,
  { reads, readMs }: { readonly reads: number; readonly readMs: number },
): readonly Row[] {
  const { nodeCpuMs, postgresCpuMs, walBytes } = load.cost;
  const times = load.ms / (readMs * reads);
  return [
    {
      what: `${what}: time against reading the list as one JSON text, as often as the load does`,
      wanted: `≤ ${MOST_TIME} ×`,
      got: `${times.toFixed(2)} × (${seconds(load.ms)}: ${phasesOf(load)}; ${reads} reads, each alone ${seconds(readMs)}; CPU: node ${seconds(nodeCpuMs)}, Postgres ${seconds(postgresCpuMs)})`,
      isMet: times <= MOST_TIME,
    },
    {
      what: `${what}: WAL, and peak RSS of the worker`,
      wanted: `< ${MOST_WAL_MB} MB`,
      got: `${(walBytes / 1e6).toFixed(2)} MB, ${load.peakRssMb.toFixed(0)} MB`,
      isMet: walBytes < MOST_WAL_MB * 1e6,
    },
  ];
}

async function answerOf(service: ChildProcess): Promise<TinyAnswer> {
  const [answer] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
  return answer;
}

async function askReads(service: ChildProcess): Promise<number> {
  service.send('figures');
  return (await answerOf(service)).reads;
}

/** The median of three. */
async function readList(url: string): Promise<number> {
  const times: number[] = [];
  for (let read = 0; read < 3; read++) {
    const startedAt = performance.now();
    // On a connection of its own: while a large answer is parsed, the service may close an idle one.
    const { body } = await request(`${url}/api/v1/orders/getall`, { reset: true });
    JSON.parse(await body.text());
    times.push(performance.now() - startedAt);
  }
  return median(times);
}
