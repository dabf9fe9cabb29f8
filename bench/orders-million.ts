/** A load of a million orders beside one of a tenth: memory of its process and of the queue. The service is a stand-in. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { phasesOf, startLoad } from './orders-bench.ts';
import type { LoadingFigures } from './orders-load-process.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { FREE_BUDGET, run } from './processes.ts';
import type { Row } from './table.ts';

const FEW = 100_000;
const MANY = 1_000_000;
const CUSTOMERS = 5_000;
const MAX_MB = 220;
const MAX_GROWTH = 1.1;
/** Two senders, and one job that follows them. */
const MAX_JOBS = 4;
/** Events that BullMQ keeps for them, whatever was done. */
const MAX_EVENTS = 10_000;

interface Loaded extends LoadingFigures {
  readonly rows: number;
  readonly service: TinyAnswer;
}

export async function ordersMillion(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('orders-tiny-process', [String(CUSTOMERS)]);
  const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
  const ask = async (what: 'empty' | 'tell'): Promise<TinyAnswer> => {
    service.send(what);
    const [told] = (await once(service, 'message')) as [TinyAnswer];
    return told;
  };
  const ids = Array.from({ length: CUSTOMERS }, (_, i) => i + 1);
  const load = async (rows: number): Promise<Loaded> => {
    await ask('empty');
    const file = path.join(dir, `${rows}.csv`);
    await writeSheet(file, { from: 0, to: rows }, ids);
    const dataDir = path.join(dir, `data-${rows}`);
    const figures = await startLoad({ dataDir, url, key: 'bench', budget: FREE_BUDGET, file, withResults: true });
    return { ...figures, rows, service: await ask('tell') };
  };
  try {
    const [few, many] = [await load(FEW), await load(MANY)];
    return [came(few), came(many), ...memory(few, many)];
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

function came(loaded: Loaded): Row {
  const { rows, created, service, ms } = loaded;
  const [lost, doubled] = [rows - service.distinct, service.orders - service.distinct];
  return {
    what: `${rows} orders at a stand-in: created, lost, doubled`,
    wanted: `${rows}, 0, 0`,
    got: `${created}, ${lost}, ${doubled} in ${(ms / 1000).toFixed(0)} s: ${phasesOf(loaded)}`,
    isMet: created === rows && lost === 0 && doubled === 0,
  };
}

function memory(few: Loaded, many: Loaded): readonly Row[] {
  const growth = many.peakRssMb / few.peakRssMb;
  return [
    {
      what: `peak RSS of the load's process, ${MANY} orders`,
      wanted: `< ${MAX_MB} MB`,
      got: `${many.peakRssMb.toFixed(0)} MB`,
      isMet: many.peakRssMb < MAX_MB,
    },
    {
      what: `peak RSS, ${MANY} orders against ${FEW}`,
      wanted: `≤ ${MAX_GROWTH} ×`,
      got: `${growth.toFixed(2)} × (${many.peakRssMb.toFixed(0)} to ${few.peakRssMb.toFixed(0)} MB)`,
      isMet: growth <= MAX_GROWTH,
    },
    {
      what: `the most jobs in the queue, and events it keeps, ${FEW} and ${MANY} orders`,
      wanted: `≤ ${MAX_JOBS}, ≤ ${MAX_EVENTS}`,
      got: `${few.queued.jobs} and ${many.queued.jobs}, ${few.queued.events} and ${many.queued.events}`,
      isMet: many.queued.jobs <= MAX_JOBS && many.queued.events <= MAX_EVENTS,
    },
  ];
}
