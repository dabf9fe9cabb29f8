/** Ten orders into an account that has very many: time against reading its list twice, and WAL. The service is a stand-in. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { request } from 'undici';
import { phasesOf, startLoad } from './orders-bench.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { FREE_BUDGET, run } from './processes.ts';
import { type Row, seconds } from './table.ts';

const FEW = 10;
const CUSTOMERS = 5_000;
/** Once to see which orders exist, and again after sending. */
const READS = 2;
const MOST_TIME = 1.5;
const MOST_WAL_MB = 1;

export const fewOrders = () => intoExisting(200_000);
export const fewOrdersAmongAMillion = () => intoExisting(1_000_000);

async function intoExisting(existing: number): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('orders-tiny-process', [String(CUSTOMERS), '0', String(existing)]);
  try {
    const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
    const customers = Array.from({ length: CUSTOMERS }, (_, i) => i + 1);
    const file = path.join(dir, 'orders.csv');
    await writeSheet(file, { from: existing, to: existing + FEW }, customers);
    const readMs = await readList(url);
    const load = await startLoad({ dataDir: path.join(dir, 'data'), url, key: 'bench', budget: FREE_BUDGET, file });
    if (load.created !== FEW) throw new Error(`the load created ${load.created} orders`);
    const { nodeCpuMs, postgresCpuMs, walBytes } = load.cost;
    return [
      {
        what: `${FEW} orders into an account with ${existing}: time against reading the list ${READS} times, as one JSON text`,
        wanted: `≤ ${MOST_TIME} ×`,
        got: `${(load.ms / readMs).toFixed(2)} × (${seconds(load.ms)}: ${phasesOf(load)}; reading ${seconds(readMs)}; CPU: node ${seconds(nodeCpuMs)}, Postgres ${seconds(postgresCpuMs)})`,
        isMet: load.ms <= MOST_TIME * readMs,
      },
      {
        what: `${FEW} orders into an account with ${existing}: WAL, and peak RSS of the worker`,
        wanted: `< ${MOST_WAL_MB} MB`,
        got: `${(walBytes / 1e6).toFixed(2)} MB, ${load.peakRssMb.toFixed(0)} MB`,
        isMet: walBytes < MOST_WAL_MB * 1e6,
      },
    ];
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

async function readList(url: string): Promise<number> {
  const startedAt = performance.now();
  for (let reads = 0; reads < READS; reads++) {
    const { body } = await request(`${url}/api/v1/orders/getall`);
    JSON.parse(await body.text());
  }
  return performance.now() - startedAt;
}
