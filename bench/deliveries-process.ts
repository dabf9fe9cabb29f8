/**
 * Delivers to a receiver: from the outbox to the last outcome in the ledger, or the same bodies from a bare undici loop.
 *   node deliveries-process.ts courier|bare URL COUNT CONCURRENCY DATA_DIR
 */
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { Pool } from 'undici';
import { migrate } from '../src/database/migrate.ts';
import { openDatabase } from '../src/database/open.ts';
import { startCourier } from '../src/deliveries/courier.ts';
import { queueDeliveries } from '../src/deliveries/outbox.ts';
import { thisWorker } from '../src/ledger/claims.ts';
import { ledgerMigrations } from '../src/ledger/migrations.ts';
import type { TaskChange } from '../src/tasks/task-change.ts';

export interface DeliveryFigures {
  readonly ms: number;
}

const [mode, url = '', count = '', connections = '', dataDir = ''] = process.argv.slice(2);
const concurrency = Number(connections);
const receiver = new Pool(url, { connections: concurrency, pipelining: 1 });
const changes = Array.from({ length: Number(count) }, (_, n) => changeOf(n));
const figures: DeliveryFigures = { ms: mode === 'bare' ? await bare() : await withCourier() };
await receiver.close();
process.send?.(figures);
process.disconnect?.();

async function bare(): Promise<number> {
  const bodies = changes.map(({ task }) => task);
  const startedAt = performance.now();
  let next = 0;
  const loop = async () => {
    for (let body = bodies[next++]; body; body = bodies[next++]) await post(body);
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return performance.now() - startedAt;
}

async function withCourier(): Promise<number> {
  const { pool, close } = await openDatabase({ url: 'embedded', dataDir, maxConnections: 12 });
  await migrate(pool, 'ledger', ledgerMigrations);
  await queueDeliveries(pool, ['receiver'], changes);
  let delivered = 0;
  const startedAt = performance.now();
  const courier = startCourier({
    pool,
    worker: thisWorker('bench'),
    names: ['receiver'],
    log: pino({ level: 'warn' }),
    targets: {
      concurrencyOf: () => concurrency,
      open: async () => ({
        async deliver({ task }) {
          await post(task);
          delivered++;
          return { status: 'delivered' };
        },
        close: async () => {},
      }),
    },
  });
  while (delivered < changes.length || (await isOpen())) await delay(5);
  const ms = performance.now() - startedAt;
  await courier.close();
  await close();
  return ms;

  async function isOpen(): Promise<boolean> {
    const open = await pool.query(`select 1 from ledger.deliveries where state <> 'ended' limit 1`);
    return open.rowCount !== 0;
  }
}

async function post(task: TaskChange['task']): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await receiver.request({ method: 'POST', path: '/', headers, body: JSON.stringify(task) });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`the receiver answered ${answer.statusCode}`);
}

function changeOf(n: number): TaskChange {
  return {
    sync: 'bench',
    account: 'bench',
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
