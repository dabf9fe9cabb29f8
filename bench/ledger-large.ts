/**
 * A ledger of 5,000,000 rows: how long commands take, and their queries alone, before and after Postgres has statistics of the
 * rows; and how long /metrics takes. ledger-large=3000000 fills so many rows instead.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import pino from 'pino';
import { buildPackage } from '../.ci/build.ts';
import { createMetrics } from '../src/cli/workspace/metrics.ts';
import { ledgerMigrations } from '../src/engine/ledger/migrations.ts';
import { openQueue } from '../src/engine/worker/queue.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { migrate } from '../src/storage/migrate.ts';
import { type Database, openDatabase } from '../src/storage/open.ts';
import { fillLedger, LARGEST_RUN, REVIEWED_RUN, SYNCS, UNSETTLED_RUN } from './ledger-large-fill.ts';
import { median } from './processes.ts';
import type { Row } from './table.ts';

const ROWS = 5_000_000;
const TIMES = 5;
const WANTED_MS = 500;
const METRICS_WANTED_MS = 50;
const program = path.join(import.meta.dirname, '../src/cli/bin/lockstep.mjs');

const COMMANDS = [
  'runs',
  'runs --verdict review',
  'status',
  'review',
  'runs show',
  `runs show ${LARGEST_RUN}`,
  `runs show ${LARGEST_RUN} --row 500000`,
  `runs show ${REVIEWED_RUN}`,
  `runs show ${UNSETTLED_RUN}`,
  'deliveries',
  'deliveries --verdict dead',
  'ledger size',
];

export async function ledgerLarge(rows = ROWS): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  await buildPackage();
  await writeFile(path.join(dir, 'lockstep.yaml'), SETTINGS);
  const database = await openDatabase({ url: 'embedded', dataDir: path.join(dir, 'data') });
  try {
    const { pool } = database;
    await migrate(pool, 'ledger', await ledgerMigrations());
    await withoutStatistics(pool);
    await fillLedger(pool, rows);
    const before = await measureAll(dir, pool, 'no statistics');
    await pool.query('vacuum analyze');
    return [...before, ...(await measureAll(dir, pool, 'with statistics')), await metrics(database)];
  } finally {
    await database.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** Postgres collects statistics a minute or more after rows were added. Here it does so when it is told to. */
async function withoutStatistics(pool: pg.Pool): Promise<void> {
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind = 'r'`,
  );
  for (const { name } of tables.rows) await pool.query(`alter table ledger.${name} set (autovacuum_enabled = off)`);
}

async function measureAll(dir: string, pool: pg.Pool, when: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const command of COMMANDS) {
    const timesMs: number[] = [];
    const queriesMs: number[] = [];
    for (let time = 0; time < TIMES; time++) {
      const before = await activeMs(pool);
      timesMs.push(runMs(dir, command.split(' ')));
      queriesMs.push((await activeMs(pool)) - before);
    }
    rows.push({
      what: `lockstep ${command}, ${when}`,
      wanted: `< ${WANTED_MS} ms`,
      got: `${median(timesMs).toFixed(0)} ms, of it Postgres ${median(queriesMs).toFixed(0)} ms`,
      isMet: median(timesMs) < WANTED_MS,
    });
  }
  return rows;
}

function runMs(cwd: string, args: readonly string[]): number {
  const startedAtMs = performance.now();
  const all = [program, ...args, '--config', 'lockstep.yaml', '--data', 'data'];
  const env = {
    ...process.env,
    SHOP_KEY: 'the-key-of-the-benchmark',
    HOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  };
  const { status, stderr } = spawnSync(process.execPath, all, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - startedAtMs;
}

/** How long all sessions that have ended have executed statements, and this one until now. */
async function activeMs(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    'select active_time as ms from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.ms ?? Number.NaN;
}

async function metrics({ pool, connection }: Database): Promise<Row> {
  const parsed = parseSettings({ text: SETTINGS, file: 'bench.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const queue = openQueue({ redis: undefined, database: connection, log: pino({ level: 'silent' }) });
  const accounts = { budgets: () => new Map() };
  const { text } = createMetrics({ pool, accounts, queue: () => queue, settings: () => parsed.settings });
  try {
    const timesMs: number[] = [];
    for (let time = 0; time < TIMES * TIMES; time++) {
      const startedAtMs = performance.now();
      await text();
      timesMs.push(performance.now() - startedAtMs);
    }
    return {
      what: '/metrics, the queue on Postgres',
      wanted: `< ${METRICS_WANTED_MS} ms`,
      got: `${median(timesMs).toFixed(1)} ms, at most ${Math.max(...timesMs).toFixed(1)} ms`,
      isMet: median(timesMs) < METRICS_WANTED_MS,
    };
  } finally {
    await queue.close();
  }
}

const SETTINGS = `
accounts: { shop: { url: "http://127.0.0.1:9", apiKey: { env: SHOP_KEY } } }
targets:
${[0, 1, 2, 3].map((n) => `  hook-${n}: { type: webhook, url: "https://hook.invalid/", secret: { env: HOOK_SECRET } }`).join('\n')}
syncs:
  task-mirror: { type: tasks, account: shop, schedule: { every: 5m }, targets: [hook-0, hook-1, hook-2, hook-3] }
${Array.from({ length: SYNCS - 1 }, (_, n) => `  nightly-${n}: { type: contacts, account: shop, schedule: { cron: "${n % 60} 2 * * *" } }`).join('\n')}
`;
