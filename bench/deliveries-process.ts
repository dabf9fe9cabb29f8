/**
 * Delivers to a receiver: from the outbox to the last outcome in the ledger, signed as webhooks are, or the same bodies from a
 * bare undici loop.
 *   node deliveries-process.ts deliver|bare URL COUNT CONCURRENCY DATA_DIR
 */
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { Pool } from 'undici';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import { queueDeliveries } from '../src/mirror/outbox/outbox.ts';
import type { TaskChange } from '../src/mirror/tasks/task-state.ts';
import { parseSettings } from '../src/settings/parse.ts';

export interface DeliveryFigures {
  readonly ms: number;
}

const [mode, url = '', count = '', connections = '', dataDir = ''] = process.argv.slice(2);
const concurrency = Number(connections);
const changes = Array.from({ length: Number(count) }, (_, n) => changeOf(n));
const figures: DeliveryFigures = { ms: mode === 'bare' ? await bare() : await withDispatcher() };
process.send?.(figures);
process.disconnect?.();

async function bare(): Promise<number> {
  const receiver = new Pool(url, { connections: concurrency, pipelining: 1 });
  const headers = { 'content-type': 'application/json' };
  const startedAt = performance.now();
  let next = 0;
  const loop = async () => {
    for (let change = changes[next++]; change; change = changes[next++]) {
      const { scope: account, event, version, seenAt, task } = change;
      const body = JSON.stringify({
        type: `task.${event}`,
        timestamp: seenAt,
        data: { account, sequence: version, task },
      });
      const answer = await receiver.request({ method: 'POST', path: '/', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const ms = performance.now() - startedAt;
  await receiver.close();
  return ms;
}

async function withDispatcher(): Promise<number> {
  const text = `
accounts: { bench: { url: "${url}", apiKey: { env: BENCH_KEY } } }
targets:
  receiver: { type: webhook, url: "${url}", secret: { env: BENCH_SECRET }, allowPrivate: true,
    budget: { requests: 100000, per: 1s, concurrency: ${concurrency} } }`;
  const parsed = parseSettings({ text, file: 'bench.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const log = pino({ level: 'warn' }, pino.destination(2));
  const env = { ...process.env, BENCH_SECRET: 'a secret of the benchmark, long enough' };
  const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env, log });
  const { pool } = workspace.database;
  await workspace.work();
  await queueDeliveries(pool, [{ name: 'receiver', filter: undefined }], changes);
  const startedAt = performance.now();
  await workspace.deliver(['receiver']);
  while (await isAnyOpen()) await delay(25);
  const ms = performance.now() - startedAt;
  const delivered = await pool.query(`select 1 from ledger.deliveries where verdict = 'delivered'`);
  if (delivered.rowCount !== changes.length) throw new Error(`${delivered.rowCount} were delivered`);
  await workspace.close();
  return ms;

  async function isAnyOpen(): Promise<boolean> {
    // By the indexes of open deliveries: a scan of all ended ones would be half of the measured work.
    const open = await pool.query(
      `select 1 where exists (select from ledger.deliveries where target = 'receiver' and state = 'waiting')
         or exists (select from ledger.deliveries where target = 'receiver' and state = 'sending')`,
    );
    return open.rowCount !== 0;
  }
}

function changeOf(n: number): TaskChange {
  return {
    sync: 'bench',
    scope: 'bench',
    runId: 'bench',
    event: 'completed',
    version: 2,
    seenAt: new Date(0),
    task: {
      kind: 'task',
      id: String(n),
      title: `Task ${n}: call the customer back about the offer`,
      description: '<p>They asked for a second quote with delivery by the end of the month.</p>',
      status: 'completed',
      isCompleted: true,
      isGone: false,
      startDate: '2026-11-21T09:00:00',
      endDate: '2026-11-28T17:00:00',
      parentId: undefined,
    },
  };
}
