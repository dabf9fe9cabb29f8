/**
 * A day at random, from a seed: processes of `lockstep start` share an embedded Postgres, and a Redis or none, while people
 * add contacts, tasks and files of orders. Processes, Postgres and Redis are killed, stopped and continued, a host is lost, and
 * the service fails before and after its commits. In the evening everything is healed, and compared with the service's own records.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { type Finished, type Running, startLockstep } from '../e2e/cli-process.ts';
import { commandsIn, openCommandHarness } from '../e2e/commands.ts';
import { randomFrom } from '../support/drawn-service.ts';
import { csvOf } from '../support/harness/orders.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { machineOf, mountDisk } from './day-machine.ts';
import { networkOf } from './day-network.ts';
import {
  compareCustomers,
  compareOrders,
  compareTasks,
  contentOf,
  type DayFile,
  type TaskEvent,
} from './day-oracle.ts';
import { redisThatFailsOver, redisThatIsKilled } from './day-redis.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const CUSTOMERS = 5;
/** Later than the `settle` of the settings, and than two of them. */
const TOO_LATE_MS = 5_000;
const EVENING_MS = 5 * 60_000;
/** Claims hold for 30 s. */
const STANDSTILLS_MS = [200, 2_000, 10_000, 35_000];

export interface Day {
  /** What happened how often. */
  readonly summary: Readonly<Record<string, number>>;
  /** Everything that is not as promised; empty if nothing is. */
  readonly problems: readonly string[];
}

export interface DayHow {
  /** There is a Redis with a Sentinel, and its master is killed, with writes that no replica has. */
  readonly failsOver?: boolean;
  /** Each of them is a scheduler, too. */
  readonly workers?: number;
  /** The service commits later than `settle`: records may be doubled, and each one has to be reported. */
  readonly isTooLate?: boolean;
}

export async function liveThrough(seed: number, minutes: number, how: DayHow = {}): Promise<Day> {
  const { failsOver = false, workers: count = 2, isTooLate = false } = how;
  const random = randomFrom(seed);
  const { int, pick, chance } = random;
  const closers: (() => Promise<unknown>)[] = [];
  const faults = {
    seed,
    rate: pick([0.01, 0.05]),
    kinds: [...FAULT_KINDS],
    lateMs: isTooLate ? TOO_LATE_MS : 400,
    onlyWrites: false,
  };
  const service = await openCommandHarness({ behaviour: { faults } });
  closers.push(() => service.close());
  await service.addNumberedCustomers(CUSTOMERS);
  const ofHook = randomFrom(seed + 1_000_003); // its calls come at any time
  let isEvening = false;
  const receiver = await startWebhookReceiver(SECRET, () => ({
    status: !isEvening && ofHook.chance(0.05) ? 503 : 204,
  }));
  closers.push(() => receiver.close());
  const redis = failsOver
    ? await redisThatFailsOver(service.dataDir)
    : await redisThatIsKilled(service.dataDir, random);
  closers.push(redis.close);

  const { dataDir: cwd } = service;
  const ownDisk = await mountDisk(path.join(cwd, '.lockstep'));
  const machine = await machineOf(cwd, random, { ownDisk, workers: count });
  closers.push(machine.close);
  const network = await networkOf(cwd, random);
  closers.push(network.close);
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
  const workers: { readonly n: number; readonly running: Running }[] = [];
  const commands = new Set<Running>();
  const background = new Set<Promise<unknown>>();
  const expected = { contacts: 0, tasks: [] as number[], files: [] as DayFile[] };
  /** The last one is on the other host. */
  const startWorker = (n: number) => {
    const args = ['start', '--config', 'lockstep.yaml', '--json', '--roles', 'worker,scheduler'];
    const env = { ...around.env, ...(n < count ? machine.envOf(n) : network.env()) };
    const running = startLockstep(args, { cwd, env });
    const worker = { n, running };
    workers.push(worker);
    void running.ended.then(({ code, stdout, stderr }) => {
      const place = workers.indexOf(worker);
      if (place === -1) return; // it was told to end
      workers.splice(place, 1);
      const hasBegun = code === null || code === 1 || stdout.includes('"roles"');
      if (hasBegun) problems.push(`a worker ended by itself with ${code}: ${stderr.split('\n').slice(-40).join('\n')}`);
      startWorker(n); // as a service manager does where Postgres or Redis is lost at the start
    });
  };
  const inBackground = (work: Promise<unknown>) => {
    const ended = work.finally(() => background.delete(ended));
    background.add(ended);
  };

  const startLoad = (name: string): Running => {
    const begun = startLockstep(
      ['orders', 'load', name, '--account', 'test', '--yes', '--config', 'lockstep.yaml', '--json'],
      around,
    );
    commands.add(begun);
    void begun.ended.then(() => commands.delete(begun));
    return begun;
  };
  const load = (name: string) => startLoad(name).ended;
  const startAll = () => {
    for (let n = 0; n <= count; n++) startWorker(n);
  };
  const stopAll = async () => {
    const all = [...workers.splice(0).map(({ running }) => running), ...commands];
    for (const one of all) one.signal('SIGKILL');
    for (const { ended } of all) await ended;
  };
  const replaceWorker = (signal: NodeJS.Signals) => {
    const [worker] = workers.splice(int(workers.length), 1);
    if (!worker) return;
    worker.running.signal(signal);
    startWorker(worker.n);
  };
  const happenings: Readonly<Record<string, () => unknown>> = {
    'a worker is killed': () => replaceWorker('SIGKILL'),
    'a worker is ended': () => replaceWorker('SIGTERM'),
    'a worker stands still': () => {
      const running = workers[int(workers.length)]?.running;
      running?.signal('SIGSTOP');
      inBackground(delay(pick(STANDSTILLS_MS)).then(() => running?.signal('SIGCONT')));
    },
    ...network.happenings(inBackground),
    ...machine.happenings(inBackground, { stopAll, startAll }),
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
      const rows = labels.map((label, n) => `${label},${1 + int(CUSTOMERS)},${contentOf(n).join()},new`);
      await file(name, csvOf('order_id,client_id,description,amount,status', rows));
      inBackground(load(name));
      if (chance(0.3)) inBackground(load(name));
    },
    'a load is killed': () => {
      const known = expected.files.at(-1);
      if (known === undefined) return;
      const begun = startLoad(known.name);
      inBackground(delay(500 + int(4_000)).then(() => begun.signal('SIGKILL')));
    },
  };
  const names = Object.keys(happenings);
  startAll();
  for (const endsAt = Date.now() + minutes * 60_000; Date.now() < endsAt; ) {
    const name = pick(names);
    // False: there was nothing to do.
    if ((await happenings[name]?.()) !== false) summary[name] = (summary[name] ?? 0) + 1;
    await delay(int(4_000));
  }

  // Evening: no more faults, and everything runs to its end.
  isEvening = true;
  service.front.passTo((await service.anotherService({})).url);
  await Promise.all(background);
  for (const name of ['people', 'mirror']) await succeeds(() => run('syncs', 'pause', name), problems);
  const unfinished = async () => (await run('runs', '--limit', '1000', '--all')).json?.runs?.filter(isUnfinished);
  await expect.poll(unfinished, { timeout: EVENING_MS, interval: 2_000 }).toEqual([]);
  await succeeds(() => run('deliveries', 'replay', '--target', 'hook', '--verdict', 'waiting'), problems);
  const waiting = async () => (await run('deliveries', '--verdict', 'waiting')).json?.deliveries;
  await expect.poll(waiting, { timeout: EVENING_MS, interval: 2_000 }).toEqual([]);
  const ending = workers.splice(0).map(({ running }) => running);
  for (const worker of ending) worker.signal('SIGTERM');
  for (const { ended } of ending) {
    const { code, stdout } = await ended;
    if (stdout.includes('"roles"')) expect(code).toBe(0); // another one was starting, perhaps on the lost host
  }
  if (isTooLate) await delay(TOO_LATE_MS); // all audits are due
  const reported = new Map<string, number>();
  for (const { name, labels } of expected.files) {
    if (isTooLate) await load(name); // makes the audits
    const loaded = await load(name);
    const { counts, error } = loaded.json ?? {};
    reported.set(name, counts?.review ?? 0);
    const { in: all = 0, ...verdicts } = counts ?? {};
    const isWhole = all === labels.length && all === sum(Object.values(verdicts)) && (loaded.code === 0 || isTooLate);
    if (!isWhole)
      problems.push(`${name}: ended with ${loaded.code}: ${JSON.stringify(counts ?? error ?? loaded.stderr)}`);
  }
  const syncsEnd = isTooLate ? [0, 1] : [0];
  for (const name of ['people', 'mirror', 'people']) await succeeds(() => run('run', name), problems, syncsEnd);
  const left = (await run('runs', '--limit', '1000', '--all')).json.runs.filter(isOpen);
  if (left.length > 0) problems.push(`${left.length} runs are not done: ${JSON.stringify(left[0])}`);
  const people = Array.from({ length: expected.contacts }, (_, n) => `person${n + 1}@example.com`);
  const found = await compareOrders(service, expected.files, isTooLate ? reported : undefined);
  problems.push(...found.problems, ...(await compareCustomers(service, people, isTooLate)));
  problems.push(...(await compareTasks(service, receiver.events as readonly TaskEvent[]))); // safe: checked by the receiver
  problems.push(...receiver.problems);
  for (const close of closers.reverse()) await close();
  const { contacts, tasks } = expected;
  const { orders, doubled } = found;
  const made = { contacts, tasks: tasks.length, orders, 'calls of the hook': receiver.events.length };
  return { summary: { ...summary, ...made, ...(isTooLate && { doubled }) }, problems };
}

const sum = (counts: readonly unknown[]) => counts.reduce<number>((all, n) => all + Number(n), 0);

async function succeeds(command: () => Promise<Finished>, problems: string[], codes = [0]): Promise<void> {
  const { code, json, stderr } = await command();
  if (!codes.includes(code ?? -1)) problems.push(`a command ended with ${code}: ${JSON.stringify(json) ?? stderr}`);
}

function isUnfinished({ state }: { state: string }): boolean {
  return ['queued', 'running', 'interrupted', 'waiting'].includes(state);
}

function isOpen({ state }: { state: string }): boolean {
  return !['done', 'auditing'].includes(state);
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
