/** How much of a budget a sync uses, and whether the service ever sees more, with one and with four worker processes. */
import { openBench, paceWhileRowsWait } from './processes.ts';
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
