/** Health checks and metrics of one process, as a monitoring system reads them. */
import { readFile } from 'node:fs/promises';
import pino from 'pino';
import { afterAll, afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type HealthServer, serveHealth } from '../../src/cli/workspace/health-server.ts';
import { createMetrics, type Metrics } from '../../src/cli/workspace/metrics.ts';
import { checkReadiness, type ReadinessNeeds } from '../../src/cli/workspace/readiness.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../settings/problems-in.ts';
import { anError } from '../support/matchers.ts';

const SETTINGS = settingsOf(`
accounts: { acme: { url: "https://sales.example.com", apiKey: { env: KEY } } }
syncs: { nightly: { type: contacts, account: acme } }
targets: { hook: { type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING } } }
`);
const QUEUE = { depth: async () => ({ active: 1, delayed: 2, prioritized: 3 }) };
const STATS = { used: 7, ratePerSecond: 20, waits: { interactive: {}, batch: { p50Ms: 10, p99Ms: 250 } } };

let server: HealthServer | undefined;
const database = await freshLedger();
afterEach(() => server?.close());
afterAll(() => database.close());

function metricsOf(): Metrics {
  const budgets = () => new Map([['acme', STATS]]) as never; // safe: only these figures are read
  return createMetrics({ pool: database.pool, accounts: { budgets }, queue: () => QUEUE, settings: () => SETTINGS });
}

async function served(more: Partial<ReadinessNeeds> = {}, metrics = metricsOf()) {
  const needs = {
    isStarted: () => true,
    pool: database.pool,
    queue: () => QUEUE,
    scheduler: () => ({ idleMs: () => 500 }),
    ...more,
  };
  const log = pino({ level: 'silent' });
  const address = { host: '127.0.0.1', port: 0 };
  server = await serveHealth({ address, ready: () => checkReadiness(needs), metrics, log });
  const { url } = server;
  return async (path: string, method = 'GET') => {
    const response = await fetch(`${url}${path}`, { method });
    return { httpStatus: response.status, text: await response.text() };
  };
}

test('a process that can do its work is alive and ready', async () => {
  const get = await served();
  expect(await get('/healthz')).toEqual({ httpStatus: 200, text: '{"status":"ok"}' });
  const { httpStatus, text } = await get('/readyz');
  expect([httpStatus, JSON.parse(text)]).toEqual([
    200,
    {
      status: 'ready',
      checks: ['start', 'database', 'schema', 'queue', 'scheduler'].map((name) => ({ name, status: 'ok' })),
    },
  ]);
});

test('a process checks only what its roles need', async () => {
  const get = await served({ queue: () => undefined, scheduler: () => undefined });
  expect(JSON.parse((await get('/readyz')).text).checks.map(({ name }: { name: string }) => name)).toEqual([
    'start',
    'database',
    'schema',
  ]);
});

test.each<[string, Partial<ReadinessNeeds>, RegExp]>([
  ['start', { isStarted: () => false }, /^this process is still starting$/],
  ['queue', { queue: () => ({ depth: () => Promise.reject(new Error('Redis is away')) }) }, /^Redis is away$/],
  ['scheduler', { scheduler: () => ({ idleMs: () => 90_000 }) }, /^due syncs were last looked for 90 s ago$/],
  ['database', { pool: { query: () => Promise.reject(new Error('no route')) } as never }, /^no route$/],
])('a process whose %s does not work is alive and not ready', async (name, broken, detail) => {
  const get = await served(broken);
  const { httpStatus, text } = await get('/readyz');
  expect([httpStatus, JSON.parse(text).status]).toEqual([503, 'not ready']);
  expect(JSON.parse(text).checks).toContainEqual({ name, status: 'failed', detail: expect.stringMatching(detail) });
  expect((await get('/healthz')).httpStatus).toBe(200);
});

test('a database of another version is not ready', async () => {
  await database.pool.query(`insert into public.lockstep_migrations (room, name) values ('ledger', '999-later')`);
  const { text } = await (await served())('/readyz');
  await database.pool.query(`delete from public.lockstep_migrations where name = '999-later'`);
  const schema = { name: 'schema', status: 'failed', detail: expect.stringContaining('999-later') };
  expect(JSON.parse(text).checks).toContainEqual(schema);
});

test('counts calls, runs, rows and deliveries, and reads budgets and the backlog', async () => {
  const metrics = metricsOf();
  metrics.called('acme', {
    operation: 'contacts.getall',
    outcome: { status: 'limited' } as never,
    waitedMs: 0,
    durationMs: 120,
  });
  const report = { status: 'done', durationMs: 90_000, counts: { in: 3, created: 2, review: 1 } } as never;
  metrics.runStopped({ sync: 'nightly', type: 'contacts' } as never, report);
  metrics.runStopped({ sync: 'load:a-file-of-a-customer.csv', type: 'orders' } as never, report);
  metrics.attempted('hook', { status: 'ended', verdict: 'delivered' }, 2_000);
  metrics.attempted('hook', { status: 'again', afterMs: 5_000 }, 2_000);
  await database.pool.query(
    `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state, due_at)
     values ('msg_1', 'hook', 'acme', 'm', 'task', '1', 1, 'created', '{}', now(), 'waiting', now() - interval '1 hour')`,
  );
  const { text } = await (await served({}, metrics))('/metrics');
  for (const line of [
    'lockstep_calls_total{account="acme",operation="contacts.getall",outcome="limited"} 1',
    'lockstep_budget_tokens_total{account="acme"} 7',
    'lockstep_budget_tokens_per_second{account="acme"} 20',
    'lockstep_budget_wait_seconds{account="acme",lane="batch",quantile="0.99"} 0.25',
    'lockstep_runs_total{sync="nightly",status="done"} 1',
    'lockstep_run_duration_seconds_sum{sync="nightly"} 90',
    'lockstep_rows_total{sync="nightly",verdict="created"} 2',
    'lockstep_rows_total{sync="orders",verdict="review"} 1',
    'lockstep_deliveries_total{target="hook",outcome="again"} 1',
    'lockstep_delivery_lag_seconds_count{target="hook"} 1',
    'lockstep_queue_jobs{state="delayed"} 2',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(text).toMatch(/lockstep_delivery_overdue_seconds\{target="hook"\} 36\d\d/);
  expect(text).not.toContain('a-file-of-a-customer');
});

test('a process whose database and queue do not answer still says what it has done', async () => {
  const pool = { query: () => Promise.reject(new Error('no route')) } as never; // safe: nothing else is called
  const queue = () => ({ depth: () => new Promise<never>(() => undefined) });
  const metrics = createMetrics({ pool, accounts: { budgets: () => new Map() }, queue, settings: () => SETTINGS });
  metrics.attempted('hook', { status: 'ended', verdict: 'delivered' }, 2_000);
  const { httpStatus, text } = await (await served({}, metrics))('/metrics');
  expect([httpStatus, text]).toEqual([200, expect.stringContaining('lockstep_deliveries_total{target="hook"')]);
  expect(text).not.toMatch(/^lockstep_(queue_jobs|delivery_overdue_seconds)\b/m);
});

const DASHBOARD = new URL('../../config/grafana-dashboard.json', import.meta.url);
const COLUMNS = 24;

/** The fields of Grafana's classic dashboards: https://grafana.com/docs/grafana/latest/dashboards/json-model/ */
const dashboardSchema = z.object({
  id: z.null(),
  uid: z.string().min(8).max(40),
  title: z.string(),
  schemaVersion: z.int().min(17),
  time: z.object({ from: z.string(), to: z.string() }),
  templating: z.object({
    list: z.tuple([
      z.object({ name: z.literal('datasource'), type: z.literal('datasource'), query: z.literal('prometheus') }),
    ]),
  }),
  panels: z.array(
    z.object({
      id: z.int().positive(),
      type: z.literal('timeseries'),
      title: z.string(),
      datasource: z.object({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) }),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int().positive(), h: z.int().positive() }),
      targets: z.array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() })).min(1),
    }),
  ),
});

test('the dashboard has the fields that Grafana needs, and its panels have places of their own', async () => {
  const { panels } = dashboardSchema.parse(JSON.parse(await readFile(DASHBOARD, 'utf8')));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { targets } of panels) expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => ({ column: x + (i % w), row: y + Math.floor(i / w) })),
  );
  expect(cells.every(({ column }) => column >= 0 && column < COLUMNS)).toBe(true);
  expect(new Set(cells.map(({ column, row }) => `${column} ${row}`)).size).toBe(cells.length);
});

test('the dashboard uses only metrics that exist', async () => {
  const { text } = await (await served())('/metrics');
  const names = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const dashboard = await readFile(DASHBOARD, 'utf8');
  const used = [...dashboard.matchAll(/lockstep_\w+/g)].map(([name]) => name);
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

test('every metric is explained', async () => {
  const { text } = await (await served())('/metrics');
  const explained = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  expect(names.filter((name) => !explained.includes(`| \`${name}\` |`))).toEqual([]);
});

test('other pages and methods are refused', async () => {
  const get = await served();
  expect((await get('/')).httpStatus).toBe(404);
  expect((await get('/metrics', 'POST')).httpStatus).toBe(405);
});

test('a port that is taken is an error that names the way out', async () => {
  await served();
  const port = Number(new URL(server?.url ?? '').port);
  const needs = { ready: async () => [], metrics: metricsOf(), log: pino({ level: 'silent' }) };
  await expect(serveHealth({ ...needs, address: { host: '127.0.0.1', port } })).rejects.toMatchObject(
    anError('HEALTH_PORT_IN_USE', '--health HOST:PORT'),
  );
});
