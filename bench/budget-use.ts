/** How much of a budget a sync uses, and whether the service ever sees more, with one and with four worker processes. */
import { type Bench, openBench } from './processes.ts';
import type { Row } from './table.ts';

const RATE = 200;
const BURST = 200;
const CONTACTS = 8_000;

export async function budgetUse(): Promise<readonly Row[]> {
  const bench = await openBench();
  const rows: Row[] = [];
  try {
    for (const processes of [1, 4]) {
      await bench.start({ rateLimit: { requestsPerSecond: RATE, burst: BURST } });
      const tenant = await bench.tenant(CONTACTS);
      const budget = `{ requests: ${RATE}, per: 1s, burst: ${BURST}, concurrency: 16 }`;
      const syncing = bench.sync(tenant, { budget, helpers: processes - 1 });
      const used = (await paceWhileRowsWait(bench, syncing)) / RATE;
      const { limited, worstSecond } = await bench.traffic();
      rows.push({
        what: `${RATE}/s, ${processes} worker process${processes === 1 ? '' : 'es'}: used, worst second, answers of 429`,
        wanted: `≥ 97%, ≤ ${RATE + BURST}, 0`,
        got: `${(used * 100).toFixed(1)}%, ${worstSecond}, ${limited}`,
        isMet: used >= 0.97 && worstSecond <= RATE + BURST && limited === 0,
      });
    }
  } finally {
    await bench.close();
  }
  return rows;
}

/** Calls a second between the first tenth and the last tenth of them: at the start and the end, rows do not always wait. */
async function paceWhileRowsWait(bench: Bench, syncing: Promise<unknown>): Promise<number> {
  const samples: { readonly atMs: number; readonly total: number }[] = [];
  const sampling = setInterval(async () => {
    const { total } = await bench.traffic();
    samples.push({ atMs: performance.now(), total });
  }, 200);
  await syncing.finally(() => clearInterval(sampling));
  const all = samples.at(-1)?.total ?? 0;
  const inside = samples.filter(({ total }) => total > all * 0.1 && total < all * 0.9);
  const [first, last] = [inside[0], inside.at(-1)];
  if (!first || !last) throw new Error('the sync was too short to be measured');
  return ((last.total - first.total) * 1000) / (last.atMs - first.atMs);
}
