/** The memory of reading long lists: a million records against a hundred thousand, for each form of list. */
import { once } from 'node:events';
import type { LongListFigures } from './long-lists-process.ts';
import { figuresOf, run } from './processes.ts';
import type { Row } from './table.ts';

const WAYS = [
  ['orders', 'orders in pages'],
  ['customers', 'customers in one answer'],
  ['tasks', 'tasks'],
] as const;
const FEW = 100_000;
const MANY = 1_000_000;

export async function longLists(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [list, words] of WAYS) {
    const few = await read(list, FEW);
    const many = await read(list, MANY);
    const [at, above] = [many.peakRssMb, many.peakRssMb - few.peakRssMb];
    rows.push({
      what: `peak RSS of reading ${MANY} ${words}, and above that at ${FEW}`,
      wanted: '< 256 MB, ≤ 64 MB',
      got: `${at.toFixed(0)} MB, ${above.toFixed(0)} MB (${(at / few.peakRssMb).toFixed(2)} ×); ${(many.ms / 1000).toFixed(1)} s`,
      isMet: many.records === MANY && at < 256 && above <= 64,
    });
  }
  return rows;
}

async function read(list: string, records: number): Promise<LongListFigures> {
  const service = run('long-lists-service-process', [String(records)]);
  try {
    const [{ url }] = await once(service, 'message');
    return await figuresOf<LongListFigures>(run('long-lists-process', [url, list]));
  } finally {
    service.disconnect();
    await once(service, 'exit');
  }
}
