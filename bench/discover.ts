/** How well discover mode finds the limit of a key: four processes against a hidden limit. */
import { type LimitedBench, openLimitedBench } from './limited-bench.ts';
import type { Row } from './table.ts';

const MINUTE_MS = 60_000;
const PROCESSES = 4;
const CALLERS = 16;
const HIDDEN = [
  { ratePerSecond: 10, burst: 10 },
  { ratePerSecond: 200, burst: 10 },
];

export async function discover(): Promise<readonly Row[]> {
  const bench = await openLimitedBench();
  const rows: Row[] = [];
  try {
    for (const limit of HIDDEN) {
      await bench.limit(limit);
      const calling = bench.call(PROCESSES, {
        limits: { ratePerSecond: 10_000, burst: 1, concurrency: PROCESSES * CALLERS, mode: 'discover' },
        forMs: 4 * MINUTE_MS,
        saturating: { batch: CALLERS },
      });
      const fourth = await servedInFourthMinute(bench);
      await calling;
      const { total, limited } = await bench.traffic();
      const used = fourth / (limit.ratePerSecond * 60);
      rows.push({
        what: `a hidden limit of ${limit.ratePerSecond}/s, burst ${limit.burst}: used in the fourth minute, share of 429`,
        wanted: '≥ 85%, < 2%',
        got: `${(used * 100).toFixed(1)}%, ${((limited / total) * 100).toFixed(2)}%`,
        isMet: used >= 0.85 && limited / total < 0.02,
      });
    }
  } finally {
    await bench.close();
  }
  return rows;
}

async function servedInFourthMinute(bench: LimitedBench): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 3 * MINUTE_MS));
  const before = await bench.traffic();
  await new Promise((resolve) => setTimeout(resolve, MINUTE_MS));
  const after = await bench.traffic();
  return after.total - after.limited - (before.total - before.limited);
}
