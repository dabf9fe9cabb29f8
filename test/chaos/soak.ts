/**
 * Real processes that do all types of jobs at once and all the time: `lockstep service` with few faults, `lockstep start` with
 * its console, loads as commands, all on one embedded Postgres, and a Redis or none. Outside are a receiver of webhooks and
 * an issue tracker whose issues are read back. Retention is called every minute, because its settings are days.
 */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { cpuMsOf } from '../../bench/cost.ts';
import { openPostgresStore } from '../../src/client/budget/postgres-store.ts';
import { ledgerMigrations } from '../../src/engine/ledger/migrations.ts';
import { pruneLedger } from '../../src/engine/ledger/retention/prune.ts';
import { pruneDeliveries } from '../../src/mirror/outbox/prune.ts';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { openDatabase } from '../../src/storage/open.ts';
import { startLockstep } from '../e2e/cli-process.ts';
import { randomFrom } from '../support/drawn-service.ts';
import { startGithub } from '../support/github-standin.ts';
import { csvOf, openOrdersHarness } from '../support/harness/orders.ts';
import { TOKEN } from '../support/item-vendor.ts';
import { LASTING, startOwnRedis } from '../support/redis-server.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import {
  compareCustomers,
  compareOrders,
  compareTasks,
  contentOf,
  type DayFile,
  type TaskEvent,
} from './day-oracle.ts';
import { type Sample, takeSample } from './soak-curves.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PEOPLE = 200;
const TASKS = 150;
const CUSTOMERS = 5;
const KEPT_MS = 4 * 60_000;
const EVENING_MS = 5 * 60_000;
const STEP_MS = 5_000;
const MINUTE_STEPS = 12;
const PAGES = ['/', '/runs', '/accounts', '/deliveries', '/review', '/syncs'];

export interface Soak {
  readonly hasRedis: boolean;
  readonly summary: Readonly<Record<string, number | string>>;
  /** Everything that is not as promised. */
  readonly problems: readonly string[];
  readonly samples: readonly Sample[];
}

export async function runSoak(minutes: number, hasRedis: boolean): Promise<Soak> {
  const { int, chance } = randomFrom(hasRedis ? 2 : 1);
  const closers: (() => Promise<unknown>)[] = [];
  const problems: string[] = [];
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-soak-'));
  closers.push(() => rm(dir, { recursive: true, force: true }));
  const dataDir = path.join(dir, 'data');
  const database = await openDatabase({ url: 'embedded', dataDir });
  await migrate(database.pool, 'ledger', await ledgerMigrations());
  await openPostgresStore({ pool: database.pool });
  const redis = hasRedis ? await startOwnRedis(dir, LASTING) : undefined;
  closers.push(async () => redis?.close());
  const receiver = await startWebhookReceiver(SECRET, () => ({ status: chance(0.01) ? 503 : 204 }));
  closers.push(receiver.close);
  const github = await startGithub();
  closers.push(() => github.vendor.close());

  const start = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    startLockstep([...args, '--data', dataDir, '--json'], { cwd: dir, env });
  const faults = { rate: 0.003, kinds: [...FAULT_KINDS], lateMs: 400, onlyWrites: false };
  const secrets = { HOOK_SECRET: SECRET, GITHUB_TOKEN: TOKEN };
  const serving = start(['service', '--port', '0', '--testbed', JSON.stringify({ faults }), '--init'], {});
  const { url: serviceUrl } = await serving.ready();
  const service = await openOrdersHarness({
    database,
    serviceUrl,
    redisUrl: redis?.url ?? 'none',
    env: secrets,
    account: 'budget: { requests: 100, per: 1s, burst: 20, timeout: 2s, settle: 2s, concurrency: 8 }',
    syncs: {
      people: 'type: contacts, schedule: { every: 1m }',
      mirror:
        'type: tasks, schedule: { every: 20s }, targets: [hook, issues], options: { backfill: true, poll: [issues], subtasks: true, pipelines: true }',
      files: 'type: orders, schedule: { every: 30s }, options: { folder: inbox, existing: update }',
    },
    targets: {
      hook: `type: webhook, url: "${receiver.hook}", secret: { env: HOOK_SECRET }, allowPrivate: true`,
      issues: `type: github, url: "${github.vendor.url}", token: { env: GITHUB_TOKEN }, owner: octo, repo: shop, create: true, allowPrivate: true, budget: { requests: 20, per: 1s }`,
    },
  });
  closers.push(() => service.close());
  const env = { ...service.env, HOOK_SECRET: SECRET, GITHUB_TOKEN: TOKEN };
  const config = ['--config', path.join(service.dataDir, 'lockstep.yaml')];
  const inbox = path.join(service.dataDir, 'inbox');
  await mkdir(inbox);
  await service.addNumberedCustomers(CUSTOMERS);

  const mails: string[] = [];
  const phones = new Map<string, string>();
  const files: DayFile[] = [];
  const addPerson = async () => {
    const email = `person${mails.length + 1}@example.com`;
    await service.call('contacts.create', { first_name: 'Person', last_name: String(mails.length + 1), email });
    mails.push(email);
  };
  for (let n = 0; n < PEOPLE; n++) await addPerson();
  for (let n = 1; n <= TASKS; n++) await service.call('tasks.create', { taskName: `Task ${n}` });

  const worker = start(['start', ...config, '--roles', 'worker,scheduler,console', '--health', '127.0.0.1:0'], env);
  const { healthUrl, consoleUrl } = await worker.ready();
  const look = async (url: string) => {
    const answer = await fetch(url);
    await answer.text();
    if (!answer.ok) problems.push(`${url} answered ${answer.status}`);
  };
  const write = async (folder: string): Promise<string> => {
    const name = `file-${files.length + 1}.csv`;
    const labels = Array.from({ length: 5 }, (_, n) => `${name}-${n + 1}`);
    files.push({ name, labels });
    const row = (label: string, n: number) => `${label},${1 + int(CUSTOMERS)},${contentOf(n).join()},new`;
    const half = path.join(dir, name);
    await writeFile(half, csvOf('order_id,client_id,description,amount,status', labels.map(row)));
    const file = path.join(folder, name);
    await rename(half, file);
    return file;
  };
  const load = async (file: string) => {
    const { code, json } = await start(['orders', 'load', file, '--account', 'test', '--yes', ...config], env).ended;
    if (code !== 0) problems.push(`${file} ended with ${code}: ${JSON.stringify(json)}`);
  };
  const everyMinute = async (minute: number) => {
    for (let n = 0; n < 3; n++) {
      const person = int(PEOPLE);
      const phone = `+4930${100_000 + 3 * minute + n}`;
      await service.editContact(1 + person, { phone });
      phones.set(mails[person] ?? '', phone);
    }
    if (minute % 10 === 0) await addPerson();
    await write(inbox);
    if (minute % 5 === 0) await load(await write(dir));
    await pruneLedger(database.pool, { rowsMs: KEPT_MS, runsMs: KEPT_MS });
    await pruneDeliveries(database.pool, KEPT_MS);
  };

  const samples: Sample[] = [];
  const sample = async () => {
    const parts = { pool: database.pool, worker: worker.pid, service: serving.pid, dataDir, healthUrl, redis };
    samples.push(await takeSample(parts));
    process.stdout.write(`${JSON.stringify({ minute: samples.length - 1, hasRedis, problems, ...samples.at(-1) })}\n`);
  };
  const begunAt = Date.now();
  for (let step = 0; Date.now() < begunAt + minutes * 60_000; step++) {
    if (step % MINUTE_STEPS === 0) {
      await everyMinute(step / MINUTE_STEPS);
      await sample();
    }
    await service.call('tasks.complete', { isCompleted: chance(0.5) }, 1 + int(TASKS));
    await look(`${consoleUrl}${PAGES[step % PAGES.length]}`);
    await look(`${healthUrl}/metrics`);
    await delay(Math.max(0, begunAt + (step + 1) * STEP_MS - Date.now()));
  }

  const tidied = async () => {
    const left = await database.pool.query<{ n: number }>(
      `select (select count(*) from ledger.runs where ended_at is null)::int + (select count(*) from ledger.deliveries where state <> 'ended')::int as n`,
    );
    return left.rows[0]?.n;
  };
  await delay(90_000); // the last changes are noticed by then
  await expect.poll(tidied, { timeout: EVENING_MS, interval: 1_000 }).toBe(0);
  const cpuMs = { worker: await cpuMsOf(worker.pid), service: await cpuMsOf(serving.pid) };
  for (const one of [worker, serving]) {
    one.signal('SIGTERM');
    const { code, stderr } = await one.ended;
    if (code !== 0) problems.push(`a process ended with ${code}: ${stderr.slice(-2_000)}`);
  }
  const found = await compareOrders(service, files, undefined);
  problems.push(...found.problems, ...(await compareCustomers(service, mails, false)));
  problems.push(...(await compareTasks(service, receiver.events as readonly TaskEvent[]))); // safe: checked by the receiver
  for (const { email, phone_number: phone } of await service.customers()) {
    const wanted = phones.get(String(email));
    if (wanted !== undefined && phone !== wanted) problems.push(`${email} has ${phone} instead of ${wanted}`);
  }
  problems.push(...receiver.problems, ...github.vendor.complaints);
  for (const close of closers.reverse()) await close();
  const seen = { 'calls of the hook': receiver.events.length, issues: github.issues.length };
  const made = { minutes, contacts: mails.length, tasks: TASKS, orders: found.orders, ...seen };
  return {
    hasRedis,
    summary: {
      redis: String(hasRedis),
      ...made,
      'CPU of the worker, s': cpuMs.worker / 1_000,
      'CPU of the service, s': cpuMs.service / 1_000,
    },
    problems,
    samples,
  };
}
