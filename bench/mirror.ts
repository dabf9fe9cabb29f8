/** How long a change of a task takes to reach its target: at most the time to the next scan, plus scanning and delivering. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median, run } from './processes.ts';
import { type Row, seconds } from './table.ts';

const TASKS = 2_000;
const EVERY_MS = 5_000;
const GRACE_MS = 2_000;
const CHANGES = 60;
const BETWEEN_MS = 700;
const KEY = 'the-key-of-the-benchmark';

export async function mirror(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const heardAtMs = new Map<string, number>();
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { data } = JSON.parse(Buffer.concat(chunks).toString());
    heardAtMs.set(String(data.task.id), performance.now());
    response.writeHead(204).end();
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const service = run('task-scan-service-process', [path.join(dir, 'service'), KEY, String(TASKS)]);
  try {
    const [{ url }] = await once(service, 'message');
    const worker = run(
      'mirror-process',
      [path.join(dir, 'worker'), settingsFor(url, receiver.address() as AddressInfo)],
      {
        BENCH_KEY: KEY,
        BENCH_SECRET: 'a secret of the benchmark, long enough',
      },
    );
    await once(worker, 'message');
    const changedAtMs = await change(url);
    await delay(EVERY_MS + 2 * GRACE_MS);
    worker.disconnect();
    await once(worker, 'exit');
    return [rowOf([...changedAtMs].map(([id, at]) => (heardAtMs.get(id) ?? Number.POSITIVE_INFINITY) - at))];
  } finally {
    receiver.close();
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

function settingsFor(url: string, { port }: AddressInfo): string {
  return `
accounts: { bench: { url: "${url}", apiKey: { env: BENCH_KEY }, budget: { requests: 200, per: 1s } } }
syncs: { mirror: { job: tasks, account: bench, schedule: { every: ${EVERY_MS}ms }, targets: [receiver] } }
targets: { receiver: { type: webhook, url: "http://127.0.0.1:${port}/", secret: { env: BENCH_SECRET }, allowPrivate: true } }`;
}

/** Completes tasks one after another; returns the time of each, by its id. */
async function change(url: string): Promise<ReadonlyMap<string, number>> {
  const changedAtMs = new Map<string, number>();
  for (let n = 0; n < CHANGES; n++) {
    const id = String(1 + n * Math.floor(TASKS / CHANGES));
    changedAtMs.set(id, performance.now());
    await fetch(`${url}/api/v1/tasks/${id}/saveCheckStatus`, {
      method: 'PUT',
      headers: { API_KEY: KEY, 'content-type': 'application/json' },
      body: '{"isCompleted":true}',
    });
    await delay(BETWEEN_MS);
  }
  return changedAtMs;
}

function rowOf(waits: readonly number[]): Row {
  const longest = Math.max(...waits);
  return {
    what: `${TASKS} tasks scanned every ${EVERY_MS / 1000} s, ${CHANGES} changes: the longest from a change to its delivery`,
    wanted: `≤ ${seconds(EVERY_MS + GRACE_MS)}`,
    got: `${seconds(longest)} (median ${seconds(median(waits))})`,
    isMet: longest <= EVERY_MS + GRACE_MS,
  };
}
