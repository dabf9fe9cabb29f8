/** What an order costs: CPU and time of a load against a bare loop of the same calls. The service is a stand-in. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Posting, PostingFigures } from './orders-bare-process.ts';
import { costsOf, phasesOf, startLoad } from './orders-bench.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { CONCURRENCY, FREE_BUDGET, figuresOf, run } from './processes.ts';
import type { Row } from './table.ts';

const ORDERS = 40_000;
/** Loaded first: the first load of an account tries how its list shows a new order, and takes longer. */
const BEFORE = { from: 0, to: 10 };
const ROWS = { from: BEFORE.to, to: BEFORE.to + ORDERS };
const CUSTOMERS = 5_000;
const MOST_CPU = 2.5;
const LATENCIES = [
  { latencyMs: 0, speed: 0.5 },
  { latencyMs: 5, speed: 0.9 },
  { latencyMs: 20, speed: 0.98 },
];

export async function ordersCpu(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { latencyMs, speed } of LATENCIES) rows.push(...(await against(latencyMs, speed)));
  return rows;
}

async function against(latencyMs: number, leastSpeed: number): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('orders-tiny-process', [String(CUSTOMERS), String(latencyMs)]);
  try {
    const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
    const customers = Array.from({ length: CUSTOMERS }, (_, i) => i + 1);
    const [before, file] = [path.join(dir, 'before.csv'), path.join(dir, 'orders.csv')];
    await writeSheet(before, BEFORE, customers);
    await writeSheet(file, ROWS, customers);
    const dataDir = path.join(dir, 'data');
    const load = await startLoad({ dataDir, url, key: 'bench', budget: FREE_BUDGET, alone: [before], file });
    if (load.created !== ORDERS) throw new Error(`the load created ${load.created} orders`);
    service.send('empty');
    await once(service, 'message');
    const posting: Posting = { url, key: 'bench', customers, numbers: ROWS, concurrency: CONCURRENCY };
    const bare = await figuresOf<PostingFigures>(run('orders-bare-process', [JSON.stringify(posting)]));
    const { nodeCpuMs, postgresCpuMs, walBytes } = load.cost;
    const cpu = (nodeCpuMs + postgresCpuMs) / bare.cpuMs;
    const speed = bare.ms / load.ms;
    const perRow = (ms: number) => `${((ms * 1000) / ORDERS).toFixed(0)} µs`;
    return [
      {
        what: `${ORDERS} orders, ${latencyMs} ms latency: CPU of worker and Postgres against a bare loop`,
        wanted: latencyMs === 0 ? `≤ ${MOST_CPU} ×` : '-',
        got: `${cpu.toFixed(2)} × (a row: node ${perRow(nodeCpuMs)}, Postgres ${perRow(postgresCpuMs)}, bare ${perRow(bare.cpuMs)}; node + Postgres: ${costsOf(load)}; WAL ${(walBytes / ORDERS).toFixed(0)} B)`,
        isMet: latencyMs > 0 || cpu <= MOST_CPU,
      },
      {
        what: `${ORDERS} orders, ${latencyMs} ms latency: speed from the file to the audit against the bare loop`,
        wanted: `≥ ${leastSpeed} ×`,
        got: `${speed.toFixed(2)} × (${(load.ms / 1000).toFixed(1)} s: ${phasesOf(load)}; bare ${(bare.ms / 1000).toFixed(1)} s)`,
        isMet: speed >= leastSpeed,
      },
    ];
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}
