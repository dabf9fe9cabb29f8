/**
 * Runs a contact sync, loads of orders and scans of tasks against services that were drawn by seed, with no client
 * settings, and checks what the services have in the end.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { freshDatabase } from './database.ts';
import { type Drawn, randomFrom } from './drawn-service.ts';
import { testWorkspace } from './harness/test-workspace.ts';
import { type KilledWorkers, startKilledWorkers } from './killed-workers.ts';
import { checkOrders } from './random-orders.ts';
import { checkContacts } from './random-people.ts';
import { type RandomService, startRandomService } from './random-service.ts';
import { checkTasks } from './random-tasks.ts';
import { nameOf, type World } from './random-world.ts';

export interface Checked {
  readonly drawn: Drawn;
  /** `refused`: stopped with a message, and nothing is wrong at the service. */
  readonly status: 'handled' | 'refused' | 'wrong';
  /** What was refused or is wrong, one line each. */
  readonly why: readonly string[];
}

/** Of each service between two kills, on average. */
const CALLS_OF_EACH = 30;
const BUDGET = 'budget: { requests: 20000, per: 1s, burst: 2000, timeout: 10s, settle: 150ms }';

const STEPS = { contacts: checkContacts, orders: checkOrders, tasks: checkTasks } as const;

export type Step = keyof typeof STEPS;

/**
 * Checks services side by side, in one workspace; the result is in their order. `isKilled`: other processes work on the runs, and are
 * killed.
 */
export async function checkServices(
  wanted: readonly { readonly drawn: Drawn; readonly steps?: readonly Step[] }[],
  { atOnce = 6, isKilled = false, onChecked = (_one: Checked): void => {} } = {},
): Promise<readonly Checked[]> {
  const database = await freshDatabase();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-random-'));
  let workers: KilledWorkers | undefined;
  const onCall = () => workers?.called();
  const services = await Promise.all(wanted.map(({ drawn }) => startRandomService(drawn, onCall)));
  const keys = services.map((_, n): [string, string] => [`KEY_${n}`, `a-key-of-the-random-service-${n}`]);
  const env = { ...Object.fromEntries(keys), HOOK_SECRET: 'x'.repeat(32) };
  const text = settingsText(services);
  const workspace = await testWorkspace({ text, dataDir, env, database });
  if (isKilled)
    workers = startKilledWorkers({
      args: [JSON.stringify(database.connection), dataDir, text],
      env: { ...process.env, ...env },
      calls: CALLS_OF_EACH * Math.min(atOnce, wanted.length),
    });
  const checked: Checked[] = [];
  const open = services.map((service, n) => ({ service, n, ...(wanted[n] as (typeof wanted)[number]) })); // safe: one each
  const work = async (): Promise<void> => {
    for (let task = open.shift(); task !== undefined; task = open.shift()) {
      const { service, n, drawn, steps = ['contacts', 'orders', 'tasks'] } = task;
      const why = { refused: [] as string[], wrong: [] as string[] };
      const world: World = {
        n,
        drawn,
        random: randomFrom(drawn.seed + 77),
        service,
        workspace,
        isKilled,
        database,
        dataDir,
        why,
      };
      for (const step of steps) if (why.wrong.length === 0) await STEPS[step](world);
      const status = why.wrong.length > 0 ? 'wrong' : why.refused.length > 0 ? 'refused' : 'handled';
      const one: Checked = { drawn, status, why: [...why.wrong, ...why.refused] };
      checked[n] = one;
      onChecked(one);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await workers?.close();
  if (workers) process.stdout.write(`${workers.kills()} kills\n`);
  await workspace.close();
  await Promise.all(services.map((service) => service.close()));
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
  return checked;
}

function settingsText(services: readonly RandomService[]): string {
  const accounts = services.map(
    ({ url }, n) => `  ${nameOf(n)}: { url: "${url}", apiKey: { env: KEY_${n} }, ${BUDGET} }`,
  );
  const syncs = services.flatMap((_, n) => [
    `  contacts-${n}: { job: contacts, account: ${nameOf(n)}, options: { rowsPerPage: 20 } }`,
    `  tasks-${n}: { job: tasks, account: ${nameOf(n)}, targets: [hook] }`,
  ]);
  const hook = '  hook: { type: webhook, url: "https://hook.invalid/", secret: { env: HOOK_SECRET } }';
  return ['redis: { url: none }', 'accounts:', ...accounts, 'syncs:', ...syncs, 'targets:', hook].join('\n');
}
