/** Loads of orders: their pace against a bare loop of the same calls and under a budget, and one beside a large one. */
import type { Lane } from '../src/client/budget/budget.ts';
import { type OrdersBench, openOrdersBench, phasesOf } from './orders-bench.ts';
import { FREE_BUDGET, median, paceWhileRowsWait } from './processes.ts';
import type { Row } from './table.ts';

const ROWS = { from: 0, to: 50_000 };
const TRIALS = 3;
const RATE = 500;
const BUDGET = `{ requests: ${RATE}, per: 1s, burst: ${RATE}, concurrency: 16 }`;
const PACED = { from: 0, to: 10_000 };
const LARGE = { from: 0, to: 500_000 };
const SMALL = 100;
const SMALL_TIMES = 5;

export async function orders(): Promise<readonly Row[]> {
  const bench = await openOrdersBench();
  try {
    return [
      await againstBare(bench, { latencyMs: 0, trials: TRIALS, wanted: 0.5 }),
      await againstBare(bench, { latencyMs: 20, trials: 1, wanted: 0.95 }),
      await underBudget(bench),
      await besideLarge(bench, { lane: 'interactive', atMost: 3 }),
      await besideLarge(bench, { lane: 'batch' }),
    ];
  } finally {
    await bench.close();
  }
}

async function againstBare(
  bench: OrdersBench,
  { latencyMs, trials, wanted }: { latencyMs: number; trials: number; wanted: number },
): Promise<Row> {
  await bench.start({ latencyMs });
  const ratios: number[] = [];
  let seconds = '';
  for (let trial = 0; trial < trials; trial++) {
    const tenant = await bench.tenant();
    const load = await bench.load(tenant, FREE_BUDGET, { file: await bench.sheet(tenant, ROWS) });
    const bare = await bench.bare(await bench.tenant(), ROWS);
    if (load.created !== ROWS.to) throw new Error(`the load created ${load.created} orders`);
    ratios.push(bare.ms / load.ms);
    seconds = `${(load.ms / 1000).toFixed(1)} s: ${phasesOf(load)}; bare ${(bare.ms / 1000).toFixed(1)} s`;
  }
  return {
    what: `${ROWS.to} orders, ${latencyMs} ms latency: rows/s from the file to the audit, against a bare loop`,
    wanted: `≥ ${wanted} ×`,
    got: `${median(ratios).toFixed(2)} × (${seconds})`,
    isMet: median(ratios) >= wanted,
  };
}

async function underBudget(bench: OrdersBench): Promise<Row> {
  await bench.start({ rateLimit: { requestsPerSecond: RATE, burst: RATE } });
  const tenant = await bench.tenant();
  const loading = bench.load(tenant, BUDGET, { file: await bench.sheet(tenant, PACED) });
  const used = (await paceWhileRowsWait(bench, loading)) / RATE;
  const { limited } = await bench.traffic();
  return {
    what: `${PACED.to} orders, ${RATE}/s: budget used while rows wait, answers of 429`,
    wanted: '≥ 97%, 0',
    got: `${(used * 100).toFixed(1)}%, ${limited}`,
    isMet: used >= 0.97 && limited === 0,
  };
}

/**
 * The large load is batch work. A small file uses the other lane unless `--lane batch` is given: then it gets half of the
 * calls, and a second's burst less than it has alone.
 */
async function besideLarge(bench: OrdersBench, { lane, atMost }: { lane: Lane; atMost?: number }): Promise<Row> {
  await bench.start({});
  const tenant = await bench.tenant();
  const small = (nth: number) => {
    const from = LARGE.to + nth * SMALL;
    return bench.sheet(tenant, { from, to: from + SMALL });
  };
  const nths = Array.from({ length: SMALL_TIMES }, (_, nth) => nth);
  const alone = await Promise.all(nths.map(small));
  const behind = await Promise.all(nths.map((nth) => small(SMALL_TIMES + nth)));
  const file = await bench.sheet(tenant, LARGE);
  const { aloneMs, behindMs } = await bench.load(tenant, BUDGET, { file, alone, behind, lane });
  const ratio = median(behindMs) / median(aloneMs);
  const times = (all: readonly number[]) => all.map((one) => `${(one / 1000).toFixed(1)} s`).join(' ');
  return {
    what: `${SMALL} orders (${lane}) while ${LARGE.to} are being sent with the same key, ${RATE}/s: time against alone`,
    wanted: atMost === undefined ? 'no promise' : `≤ ${atMost} ×`,
    got: `${ratio.toFixed(2)} × (alone ${times(aloneMs)}, beside ${times(behindMs)})`,
    isMet: ratio <= (atMost ?? Number.POSITIVE_INFINITY),
  };
}
