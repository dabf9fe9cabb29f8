/**
 * A day at random, from a seed: processes of `lockstep start` share an embedded Postgres, and a Redis or none, while people
 * add contacts, tasks and files of orders. Processes, Postgres and Redis are killed, stopped and continued, and the service
 * fails before and after its commits. In the evening everything is healed, and compared with the service's own records.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { type Finished, type Running, startLockstep } from '../e2e/cli-process.ts';
import { commandsIn, openCommandHarness } from '../e2e/commands.ts';
import { randomFrom } from '../support/drawn-service.ts';
import { csvOf } from '../support/harness/orders.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { redisThatFailsOver, redisThatIsKilled } from './day-redis.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const CUSTOMERS = 5;
const WORKERS = 2;
const EVENING_MS = 5 * 60_000;
/** Claims hold for 30 s. */
const STANDSTILLS_MS = [200, 2_000, 10_000, 35_000];

export interface Day {
  /** What happened how often. */
  readonly summary: Readonly<Record<string, number>>;
  /** Everything that is not as promised; empty if nothing is. */
  readonly problems: readonly string[];
}

/** `failsOver`: there is a Redis with a Sentinel, and its master is killed, with writes that no replica has. */
export async function liveThrough(seed: number, minutes: number, { failsOver = false } = {}): Promise<Day> {
  const random = randomFrom(seed);
  const { int, pick, chance } = random;
  const closers: (() => Promise<unknown>)[] = [];
  const faults = { seed, rate: pick([0.01, 0.05]), kinds: [...FAULT_KINDS], lateMs: 400, onlyWrites: false };
  const service = await openCommandHarness({ behaviour: { faults } });
  closers.push(() => service.close());
  await service.addNumberedCustomers(CUSTOMERS);
  const ofHook = randomFrom(seed + 1_000_003); // its calls come at any time
  const receiver = await startWebhookReceiver(SECRET, () => ({ status: ofHook.chance(0.05) ? 503 : 204 }));
  closers.push(() => receiver.close());
  const redis = failsOver
    ? await redisThatFailsOver(service.dataDir)
    : await redisThatIsKilled(service.dataDir, random);
  closers.push(redis.close);

  const { dataDir: cwd } = service;
  await writeFile(path.join(cwd, 'lockstep.yaml'), settingsText(service.front.url, receiver.hook, redis.url));
  const around = { cwd, env: { ...service.env, HOOK_SECRET: SECRET } };
  const { run, file } = commandsIn(around);
  const initialized = await startLockstep(
    ['settings', 'check', '--config', 'lockstep.yaml', '--json', '--init'],
    around,
  ).ended;
  expect(initialized).toMatchObject({ code: 0 });

  const summary: Record<string, number> = {};
  const problems: string[] = [];
  const workers: Running[] = [];
  const background = new Set<Promise<unknown>>();
  const expected = { contacts: 0, tasks: [] as number[], files: [] as { name: string; labels: string[] }[] };
  const startWorker = () => {
    const args = ['start', '--config', 'lockstep.yaml', '--json', '--roles', 'worker,scheduler'];
    const worker = startLockstep(args, around);
    workers.push(worker);
    void worker.ended.then(({ code, stdout, stderr }) => {
      const place = workers.indexOf(worker);
      if (place === -1) return; // it was told to end
      workers.splice(place, 1);
      const hasBegun = code === null || code === 1 || stdout.includes('"roles"');
      if (hasBegun) problems.push(`a worker ended by itself with ${code}: ${stderr.split('\n').slice(-40).join('\n')}`);
      startWorker(); // as a service manager does where Postgres or Redis is lost at the start
    });
  };
  const inBackground = (work: Promise<unknown>) => {
    const ended = work.finally(() => background.delete(ended));
    background.add(ended);
  };

  const load = (name: string) => run('orders', 'load', name, '--account', 'test', '--yes');
  const happenings: Readonly<Record<string, () => unknown>> = {
    'a worker is killed': () => {
      workers.splice(int(workers.length), 1)[0]?.signal('SIGKILL');
      startWorker();
    },
    'a worker is ended': () => {
      workers.splice(int(workers.length), 1)[0]?.signal('SIGTERM');
      startWorker();
    },
    'a worker stands still': () => {
      const worker = workers[int(workers.length)];
      worker?.signal('SIGSTOP');
      inBackground(delay(pick(STANDSTILLS_MS)).then(() => worker?.signal('SIGCONT')));
    },
    'Postgres is killed': () => killPostgres(cwd),
    ...redis.happenings(inBackground),
    'contacts are added': async () => {
      const count = 1 + int(20);
      for (let n = 0; n < count; n++) {
        const number = ++expected.contacts;
        const name = { first_name: 'Person', last_name: String(number) };
        await service.call('contacts.create', { ...name, email: `person${number}@example.com` });
      }
    },
    'tasks are changed': async () => {
      const number = expected.tasks.length + 1;
      await service.call('tasks.create', { taskName: `Task ${number}` });
      expected.tasks.push(number);
      await service.call('tasks.complete', { isCompleted: chance(0.7) }, pick(expected.tasks));
    },
    'a file is loaded': async () => {
      const name = `file-${expected.files.length + 1}.csv`;
      const labels = Array.from({ length: 3 + int(60) }, (_, n) => `${name}-${n + 1}`);
      expected.files.push({ name, labels });
      const rows = labels.map((label, n) => `${label},${1 + int(CUSTOMERS)},Order ${n},${n}.25,new`);
      await file(name, csvOf('order_id,client_id,description,amount,status', rows));
      inBackground(load(name));
      if (chance(0.3)) inBackground(load(name));
    },
    'a load is killed': () => {
      const known = expected.files.at(-1);
      if (known === undefined) return;
      const begun = startLockstep(
        ['orders', 'load', known.name, '--account', 'test', '--yes', '--config', 'lockstep.yaml'],
        around,
      );
      inBackground(delay(500 + int(4_000)).then(() => begun.signal('SIGKILL')));
    },
  };
  const names = Object.keys(happenings);
  for (let n = 0; n < WORKERS; n++) startWorker();
  for (const endsAt = Date.now() + minutes * 60_000; Date.now() < endsAt; ) {
    const name = pick(names);
    summary[name] = (summary[name] ?? 0) + 1;
    await happenings[name]?.();
    await delay(int(4_000));
  }

  // Evening: no more faults, and everything runs to its end.
  service.front.passTo((await service.anotherService({})).url);
  await Promise.all(background);
  for (const name of ['people', 'mirror']) await succeeds(() => run('syncs', 'pause', name), problems);
  const unfinished = async () => (await run('runs', '--limit', '1000', '--all')).json?.runs?.filter(isUnfinished);
  await expect.poll(unfinished, { timeout: EVENING_MS, interval: 2_000 }).toEqual([]);
  const ending = workers.splice(0);
  for (const worker of ending) worker.signal('SIGTERM');
  for (const { ended } of ending) expect((await ended).code).toBe(0);
  for (const { name, labels } of expected.files) {
    const loaded = await load(name);
    const { counts, error } = loaded.json ?? {};
    const isWhole = loaded.code === 0 && counts?.in === labels.length;
    if (!isWhole)
      problems.push(`${name}: ended with ${loaded.code}: ${JSON.stringify(counts ?? error ?? loaded.stderr)}`);
  }
  for (const name of ['people', 'mirror', 'people']) await succeeds(() => run('run', name), problems);
  const left = (await run('runs', '--limit', '1000', '--all')).json.runs.filter(isOpen);
  if (left.length > 0) problems.push(`${left.length} runs are not done: ${JSON.stringify(left[0])}`);

  const made = await service.orderCommits();
  const labels = new Set(expected.files.flatMap((one) => one.labels));
  const wrong = (what: string, keys: readonly string[]) => {
    if (keys.length > 0) problems.push(`${keys.length} ${what}: ${keys.slice(0, 5).join(', ')}`);
  };
  wrong(
    'orders are lost',
    [...labels].filter((label) => !made.has(label)),
  );
  wrong(
    'orders were created more than once',
    [...made].flatMap(([label, n]) => (n > 1 ? [label] : [])),
  );
  wrong(
    'orders were never asked for',
    [...made.keys()].filter((label) => !labels.has(label)),
  );
  const mails = (await service.customers()).map(({ email }) => String(email));
  const people = Array.from({ length: expected.contacts }, (_, n) => `person${n + 1}@example.com`);
  wrong(
    'contacts are lost',
    people.filter((mail) => !mails.includes(mail)),
  );
  wrong(
    'customers are there more than once',
    mails.filter((mail, n) => mails.indexOf(mail) !== n),
  );
  const heard = new Map(
    (receiver.events as readonly TaskEvent[]).map(({ data: { task } }) => [task.id, task.isCompleted]),
  ); // safe: checked by the receiver
  const tasks = (await service.call('tasks.getall')) as { id: number; isCompleted: boolean }[]; // safe: our own service
  wrong(
    'tasks were not mirrored',
    tasks.filter(({ id, isCompleted }) => heard.get(String(id)) !== isCompleted).map(({ id }) => `task ${id}`),
  );
  problems.push(...receiver.problems);
  for (const close of closers.reverse()) await close();
  const { contacts, tasks: changed } = expected;
  return {
    summary: {
      ...summary,
      contacts,
      tasks: changed.length,
      orders: labels.size,
      'calls of the hook': receiver.events.length,
    },
    problems,
  };
}

interface TaskEvent {
  readonly data: { readonly task: { readonly id: string; readonly isCompleted: boolean } };
}

async function succeeds(command: () => Promise<Finished>, problems: string[]): Promise<void> {
  const { code, json, stderr } = await command();
  if (code !== 0) problems.push(`a command ended with ${code}: ${JSON.stringify(json) ?? stderr}`);
}

function isUnfinished({ state }: { state: string }): boolean {
  return ['queued', 'running', 'interrupted', 'waiting'].includes(state);
}

function isOpen({ state }: { state: string }): boolean {
  return !['done', 'auditing'].includes(state);
}

async function killPostgres(cwd: string): Promise<void> {
  const text = await readFile(path.join(cwd, '.lockstep/postgres/data/postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch {
    // It was killed before, and its file is still there.
  }
}

function settingsText(serviceUrl: string, hook: string, redisUrl = 'none'): string {
  return `
redis: { url: "${redisUrl}" }
accounts:
  test: { url: "${serviceUrl}", apiKey: { env: TEST_KEY }, budget: { requests: 100, per: 1s, burst: 20, timeout: 500ms, settle: 1s, concurrency: 8 } }
syncs:
  people: { type: contacts, account: test, schedule: { every: 10s } }
  mirror: { type: tasks, account: test, schedule: { every: 5s }, targets: [hook], options: { backfill: true } }
targets:
  hook: { type: webhook, url: "${hook}", secret: { env: HOOK_SECRET }, allowPrivate: true, budget: { requests: 200, per: 1s } }
`;
}
