/** What a sync of contacts costs when nothing has changed: WAL, CPU and memory. */
import { openBench } from './processes.ts';
import type { Row } from './table.ts';

const MOST_WAL_MB = 1;
const MOST_RSS_MB = 200;

export const contactsUnchanged = () => unchanged(20_000);
export const manyContactsUnchanged = () => unchanged(200_000);

async function unchanged(contacts: number): Promise<readonly Row[]> {
  const bench = await openBench();
  try {
    await bench.start({});
    const { runs, peakRssMb } = await bench.sync(await bench.tenant(contacts), { times: 2 });
    const second = runs[1];
    if (second === undefined || second.created > 0) throw new Error('the second sync was not one without changes');
    const { nodeCpuMs, postgresCpuMs, walBytes } = second.cost;
    const each = (ms: number) => `${((ms * 1000) / contacts).toFixed(0)} µs`;
    const what = `sync of ${contacts} unchanged contacts`;
    return [
      {
        what: `${what}: WAL`,
        wanted: `< ${MOST_WAL_MB} MB`,
        got: `${(walBytes / 1e6).toFixed(2)} MB (${(walBytes / contacts).toFixed(0)} B a contact)`,
        isMet: walBytes < MOST_WAL_MB * 1e6,
      },
      {
        what: `${what}: CPU a contact, of the worker and its Postgres`,
        wanted: '-',
        got: `${each(nodeCpuMs + postgresCpuMs)} (node ${each(nodeCpuMs)}, Postgres ${each(postgresCpuMs)}) in ${(second.ms / 1000).toFixed(1)} s`,
        isMet: true,
      },
      {
        what: `${what}: peak RSS of the worker, the first sync included`,
        wanted: `< ${MOST_RSS_MB} MB`,
        got: `${peakRssMb.toFixed(0)} MB`,
        isMet: peakRssMb < MOST_RSS_MB,
      },
    ];
  } finally {
    await bench.close();
  }
}
