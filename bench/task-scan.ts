/** Scans of many tasks: their calls against the number of pages, the worker's memory, and the time. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { figuresOf, run } from './processes.ts';
import { type Row, seconds } from './table.ts';
import type { TaskScanFigures } from './task-scan-process.ts';

/** The service's own page size for tasks. */
const TASKS_PER_PAGE = 100;
const KEY = 'the-key-of-the-benchmark';

export async function taskScan(): Promise<readonly Row[]> {
  return [...(await scanOf(10_000)), ...(await scanOf(100_000))];
}

async function scanOf(tasks: number): Promise<readonly Row[]> {
  const { scans, peakRssMb } = await measure(tasks);
  const [first, second, third] = scans;
  if (!first || !second || !third) throw new Error('the scans told no figures');
  const allowed = Math.floor((1.2 * tasks) / TASKS_PER_PAGE);
  return [
    {
      what: `scan of ${tasks} tasks, 1% of them changed: calls`,
      wanted: `≤ ${allowed}`,
      got: `${second.calls} in ${seconds(second.ms)}, scan ${second.scan}; the first one ${first.calls} in ${seconds(first.ms)}`,
      isMet: second.calls <= allowed,
    },
    {
      what: `scan of ${tasks} tasks, 1% of them changed: changes handed over`,
      wanted: `${tasks / 100}, then 0`,
      got: `${second.changes}, then ${third.changes} in ${seconds(third.ms)}`,
      isMet: second.changes === tasks / 100 && third.changes === 0,
    },
    {
      what: `peak RSS of the worker, ${tasks} tasks`,
      wanted: '< 256 MB',
      got: `${peakRssMb.toFixed(0)} MB`,
      isMet: peakRssMb < 256,
    },
  ];
}

async function measure(tasks: number): Promise<TaskScanFigures> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const service = run('task-scan-service-process', [path.join(dir, 'service'), KEY, String(tasks)]);
  try {
    const [{ url }] = await once(service, 'message');
    const settings = `
accounts: { bench: { url: "${url}", apiKey: { env: BENCH_KEY }, budget: { requests: 100000, per: 1s, concurrency: 16 } } }
syncs: { mirror: { job: tasks, account: bench, targets: [hook] } }
targets: { hook: { type: webhook, url: "https://hook.invalid/", secret: { env: BENCH_SECRET } } }`;
    const env = { BENCH_KEY: KEY, BENCH_SECRET: 'x'.repeat(32) };
    const worker = run('task-scan-process', [path.join(dir, 'worker'), settings], env);
    const figures = figuresOf<TaskScanFigures>(worker);
    await once(worker, 'message');
    service.send({});
    await once(service, 'message');
    worker.send({});
    return await figures;
  } finally {
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}
