/**
 * Callers of one or many keys in their own process. Each calls again, through the budget, as soon as it has its answer.
 *   node caller-process.ts CALLER_JSON
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Budget, BudgetLimits, BudgetStore, Lane } from '../src/client/budget/budget.ts';
import { createBudget } from '../src/client/budget/key-budget.ts';
import { openPostgresStore } from '../src/client/budget/postgres-store.ts';
import { createRedisStore } from '../src/client/budget/redis-store.ts';
import { type Client, createClient } from '../src/client/call/client.ts';
import { autoDialect } from '../src/client/call/dialect.ts';
import { openDatabase } from '../src/storage/open.ts';
import { quantile } from './processes.ts';

export interface Caller {
  readonly url: string;
  readonly key: string;
  /** How many keys, each with its own budget and callers. */
  readonly keys: number;
  readonly limits: BudgetLimits;
  readonly dataDir: string;
  readonly redisUrl?: string;
  readonly forMs: number;
  /** Callers that never pause, by lane. */
  readonly saturating: Partial<Record<Lane, number>>;
  /** One caller that pauses after each call, as a person does. */
  readonly person?: { readonly lane: Lane; readonly pauseMs: number };
}

export interface CallerFigures {
  readonly calls: Readonly<Record<Lane, number>>;
  readonly storeCalls: number;
  readonly used: number;
  /** The person's median wait for a token. */
  readonly waitP50Ms: number;
}

const caller: Caller = JSON.parse(process.argv[2] ?? '{}');
const { store: uncounted, close } = await openStore();
let storeCalls = 0;
/** Counts its calls. */
const store = new Proxy(uncounted, {
  get(opened, name) {
    const member = Reflect.get(opened, name);
    if (typeof member === 'function') storeCalls++;
    return typeof member === 'function' ? member.bind(opened) : member;
  },
});
const keys = Array.from({ length: caller.keys }, (_, nth) => {
  const budget = createBudget({ key: `${caller.key}-${nth}`, limits: caller.limits, store });
  const client = createClient({
    account: 'bench',
    baseUrl: caller.url,
    apiKey: String(nth),
    prefix: '/api/v1',
    timeoutMs: 10_000,
    concurrency: caller.limits.concurrency,
    budget,
    dialect: autoDialect,
  });
  return { budget, client };
});
const stop = new AbortController();
const calls: Record<Lane, number> = { interactive: 0, batch: 0 };
const waitsMs: number[] = [];

process.send?.('ready');
process.once('message', async () => {
  const working = keys.flatMap(({ client }) =>
    (['interactive', 'batch'] as const).flatMap((lane) =>
      Array.from({ length: caller.saturating[lane] ?? 0 }, () => saturate(client, lane)),
    ),
  );
  for (const { budget } of keys) if (caller.person) working.push(behave(budget, caller.person));
  await delay(caller.forMs);
  stop.abort();
  await Promise.all(working);
  const stats = keys.map(({ budget }) => budget.stats());
  await Promise.all(keys.map(({ client }) => client.close()));
  await Promise.all(keys.map(({ budget }) => budget.close()));
  await close();
  const figures: CallerFigures = {
    calls,
    storeCalls,
    used: stats.reduce((sum, one) => sum + one.used, 0),
    waitP50Ms: quantile(waitsMs, 0.5),
  };
  process.send?.(figures);
  process.disconnect?.();
});

async function saturate(client: Client, lane: Lane): Promise<void> {
  while (!stop.signal.aborted) {
    const outcome = await client.call('contacts.getall', { lane, stopWaiting: stop.signal });
    if (outcome.status === 'applied') calls[lane]++;
  }
}

async function behave(budget: Budget, { lane, pauseMs }: { lane: Lane; pauseMs: number }): Promise<void> {
  while (!stop.signal.aborted) {
    const askedAtMs = performance.now();
    const taken = await budget.take({ lane, signal: stop.signal }).catch(() => undefined);
    if (taken?.status !== 'taken') continue;
    waitsMs.push(performance.now() - askedAtMs);
    calls[lane]++;
    taken.permit.release();
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

async function openStore(): Promise<{ store: BudgetStore; close: () => Promise<void> }> {
  if (caller.redisUrl !== undefined) {
    const redis = new Redis(caller.redisUrl);
    return {
      store: createRedisStore({ redis, where: 'the benchmark', prefix: 'lockstep-bench' }),
      close: async () => void (await redis.quit()),
    };
  }
  const database = await openDatabase({ url: 'embedded', dataDir: caller.dataDir, maxConnections: 4 });
  return { store: await openPostgresStore({ pool: database.pool }), close: () => database.close() };
}
