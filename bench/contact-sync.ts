/** The contact sync against a bare loop of the same calls, its calls when nothing changed, and its memory. */
import { median, openBench, ROWS_PER_PAGE } from './processes.ts';
import type { Row } from './table.ts';

const CONTACTS = 50_000;
const TRIALS = 3;

export async function contactSync(): Promise<readonly Row[]> {
  const bench = await openBench();
  const rows: Row[] = [];
  try {
    for (const latencyMs of [0, 20]) {
      await bench.start({ latencyMs });
      const ratios: number[] = [];
      let seconds = '';
      for (let trial = 0; trial < (latencyMs === 0 ? TRIALS : 1); trial++) {
        const sync = await bench.sync(await bench.tenant(CONTACTS));
        const [first] = sync.runs;
        if (!first) throw new Error('the sync told no figures');
        const bare = await bench.bare(await bench.tenant(CONTACTS), first.created);
        ratios.push(first.ms / bare.ms);
        seconds = `${(first.ms / 1000).toFixed(1)} s for ${first.calls} calls, bare ${(bare.ms / 1000).toFixed(1)} s`;
      }
      rows.push({
        what: `first sync of ${CONTACTS} contacts, ${latencyMs} ms latency, time against a bare loop`,
        wanted: latencyMs === 0 ? '≤ 3 ×' : '≤ 1.15 ×',
        got: `${median(ratios).toFixed(2)} × (${seconds})`,
        isMet: median(ratios) <= (latencyMs === 0 ? 3 : 1.15),
      });
    }
    rows.push(...(await unchangedAndMemory(bench)));
  } finally {
    await bench.close();
  }
  return rows;
}

async function unchangedAndMemory(bench: Awaited<ReturnType<typeof openBench>>): Promise<readonly Row[]> {
  await bench.start({});
  const [small, large] = [await bench.tenant(20_000), await bench.tenant(200_000)];
  const smallSync = await bench.sync(small, { times: 2 });
  const largeSync = await bench.sync(large, { times: 2 });
  const second = largeSync.runs[1];
  if (!second) throw new Error('the sync told no figures');
  const allowed = 1.2 * Math.ceil(large.contacts / ROWS_PER_PAGE) + 3;
  const growth = largeSync.peakRssMb - smallSync.peakRssMb;
  return [
    {
      what: `second sync of ${large.contacts} unchanged contacts: writes and calls`,
      wanted: `0 writes, ≤ ${allowed} calls`,
      got: `${second.created} writes, ${second.calls} calls in ${(second.ms / 1000).toFixed(1)} s, scan ${second.scan}`,
      isMet: second.created === 0 && second.calls <= allowed,
    },
    {
      what: `peak RSS of the worker, ${large.contacts} contacts`,
      wanted: '< 256 MB',
      got: `${largeSync.peakRssMb.toFixed(0)} MB`,
      isMet: largeSync.peakRssMb < 256,
    },
    {
      what: `peak RSS at ${large.contacts} above that at ${small.contacts}`,
      wanted: '≤ 32 MB',
      got: `${growth.toFixed(0)} MB`,
      isMet: growth <= 32,
    },
  ];
}
