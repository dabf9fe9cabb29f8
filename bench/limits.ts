/**
 * The budget alone, against a service that enforces its limit exact to the token: how much of it four processes use, whether
 * they ever exceed it, the effect of the lanes, and the cost of the budget. On Redis if REDIS_URL is set, otherwise on Postgres.
 */
import type { BudgetLimits } from '../src/client/budget/budget.ts';
import type { CallerFigures } from './caller-process.ts';
import { type LimitedBench, openLimitedBench } from './limited-bench.ts';
import type { Row } from './table.ts';

const MINUTE_MS = 60_000;
const PROCESSES = 4;
const CALLERS = 16;
const RATES = [10, 200, 2_000];
/** As on a host of many tenants: every process works on every key. */
const MANY = { processes: 8, keys: 200, rate: 5, callers: 2 };

export async function limits(): Promise<readonly Row[]> {
  const bench = await openLimitedBench();
  try {
    const rows: Row[] = [];
    for (const rate of RATES) rows.push(...(await atRate(bench, rate)));
    rows.push(await manyKeys(bench), await interactiveWait(bench), await batchShare(bench), await addedLatency(bench));
    return rows;
  } finally {
    await bench.close();
  }
}

const limitsFor = (rate: number): BudgetLimits => ({
  ratePerSecond: rate,
  burst: rate,
  concurrency: PROCESSES * CALLERS,
});

async function atRate(bench: LimitedBench, rate: number): Promise<readonly Row[]> {
  await bench.limit({ ratePerSecond: rate, burst: rate });
  const saturating = { batch: CALLERS };
  const figures = await bench.call(PROCESSES, { limits: limitsFor(rate), forMs: MINUTE_MS, saturating });
  const { total, limited, worstSecond } = await bench.traffic();
  const used = total / ((rate * MINUTE_MS) / 1_000);
  const rows: Row[] = [
    {
      what: `${rate}/s, ${PROCESSES} processes, 60 s: used, worst second, answers of 429`,
      wanted: `≥ 97%, ≤ ${2 * rate}, 0`,
      got: `${(used * 100).toFixed(1)}%, ${worstSecond}, ${limited}`,
      isMet: used >= 0.97 && worstSecond <= 2 * rate && limited === 0,
    },
  ];
  if (rate >= 200) {
    const perToken = sum(figures, (one) => one.storeCalls) / sum(figures, (one) => one.used);
    rows.push({
      what: `${rate}/s: calls of the budget's store for each token`,
      wanted: '≤ 1',
      got: perToken.toFixed(2),
      isMet: perToken <= 1,
    });
  }
  return rows;
}

async function manyKeys(bench: LimitedBench): Promise<Row> {
  const { processes, keys, rate, callers } = MANY;
  const limits = { ratePerSecond: rate, burst: rate, concurrency: processes * callers };
  await bench.limit({ ratePerSecond: rate, burst: rate });
  const options = { limits, keys, forMs: MINUTE_MS / 2, saturating: { batch: callers } };
  const figures = await bench.call(processes, options);
  const { total, limited } = await bench.traffic();
  const used = total / ((keys * rate * options.forMs) / 1_000);
  const perToken = sum(figures, (one) => one.storeCalls) / sum(figures, (one) => one.used);
  return {
    what: `${keys} keys of ${rate}/s, ${processes} processes, 30 s: used, answers of 429, calls of the store for each token`,
    wanted: '≥ 97%, 0, ≤ 2',
    got: `${(used * 100).toFixed(1)}%, ${limited}, ${perToken.toFixed(2)}`,
    isMet: used >= 0.97 && limited === 0 && perToken <= 2,
  };
}

/** A person's calls beside saturating batch work: in their own lane, and in the same queue as that work. */
async function interactiveWait(bench: LimitedBench): Promise<Row> {
  const waits: Record<string, number> = {};
  for (const lane of ['interactive', 'batch'] as const) {
    await bench.limit({ ratePerSecond: 200, burst: 200 });
    const common = { limits: limitsFor(200), forMs: MINUTE_MS / 3, saturating: { batch: CALLERS } };
    const [first] = await bench.call(PROCESSES, common, { person: { lane, pauseMs: 100 } });
    waits[lane] = first?.waitP50Ms ?? Number.NaN;
  }
  const ratio = (waits.interactive ?? 0) / (waits.batch ?? 1);
  return {
    what: '200/s under saturating batch work: a person’s median wait, against first come, first served',
    wanted: '≤ 0.20 ×',
    got: `${ratio.toFixed(2)} × (${waits.interactive?.toFixed(0)} ms to ${waits.batch?.toFixed(0)} ms)`,
    isMet: ratio <= 0.2,
  };
}

async function batchShare(bench: LimitedBench): Promise<Row> {
  await bench.limit({ ratePerSecond: 200, burst: 200 });
  const saturating = { interactive: CALLERS, batch: CALLERS };
  const figures = await bench.call(PROCESSES, { limits: limitsFor(200), forMs: MINUTE_MS / 3, saturating });
  const batch = sum(figures, (one) => one.calls.batch);
  const share = batch / (batch + sum(figures, (one) => one.calls.interactive));
  return {
    what: '200/s under saturating interactive work: the share of batch work',
    wanted: '≥ 9%',
    got: `${(share * 100).toFixed(1)}%`,
    isMet: share >= 0.09,
  };
}

/** One caller after another, with a free token at all times: the cost of asking for it. */
async function addedLatency(bench: LimitedBench): Promise<Row> {
  const person = { lane: 'interactive', pauseMs: 0 } as const;
  const free = { limits: { ...limitsFor(100_000), burst: 100_000 }, forMs: MINUTE_MS / 6, saturating: {} };
  const [figures] = await bench.call(1, free, { person });
  const p50 = figures?.waitP50Ms ?? Number.NaN;
  return {
    what: 'tokens free, one call after another: the budget’s median latency',
    wanted: '< 1 ms',
    got: `${p50.toFixed(3)} ms`,
    isMet: p50 < 1,
  };
}

function sum(figures: readonly CallerFigures[], of: (one: CallerFigures) => number): number {
  return figures.reduce((all, one) => all + of(one), 0);
}
