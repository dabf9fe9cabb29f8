/**
 * Runs a contact sync, loads of orders and scans of tasks against services that were drawn by seed, with no client
 * settings, and checks what the services have in the end.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { statementFor } from '../../src/base/reasons/reasons.ts';
import type { Workspace } from '../../src/cli/workspace/open-workspace.ts';
import { countRows, reportRows } from '../../src/engine/ledger/rows.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { type Drawn, mayHideTheFirst, type Random, randomFrom } from './drawn-service.ts';
import { ended as stopped } from './harness/ended.ts';
import { receiveFile } from './harness/orders.ts';
import { isScanned } from './harness/tasks.ts';
import { testWorkspace } from './harness/test-workspace.ts';
import type { Kept } from './random-records.ts';
import { type RandomService, startRandomService } from './random-service.ts';

export interface Checked {
  readonly drawn: Drawn;
  /** `refused`: stopped with a message, and nothing is wrong at the service. */
  readonly status: 'handled' | 'refused' | 'wrong';
  /** What was refused or is wrong, one line each. */
  readonly why: readonly string[];
}

interface World {
  /** Of its account, and in the names of its syncs. */
  readonly n: number;
  readonly drawn: Drawn;
  readonly random: Random;
  readonly service: RandomService;
  readonly workspace: Workspace;
  readonly database: FreshDatabase;
  readonly dataDir: string;
  readonly why: { refused: string[]; wrong: string[] };
}

const BUDGET = 'budget: { requests: 20000, per: 1s, burst: 2000, timeout: 10s, settle: 150ms }';
const nameOf = (n: number) => `account-${n}`;

const STEPS = { contacts: checkContacts, orders: checkOrders, tasks: checkTasks } as const;

export type Step = keyof typeof STEPS;

/** Checks services side by side, in one workspace; the result is in their order. */
export async function checkServices(
  wanted: readonly { readonly drawn: Drawn; readonly steps?: readonly Step[] }[],
  { atOnce = 6 } = {},
): Promise<readonly Checked[]> {
  const database = await freshDatabase();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-random-'));
  const services = await Promise.all(wanted.map(({ drawn }) => startRandomService(drawn)));
  const keys = services.map((_, n): [string, string] => [`KEY_${n}`, `a-key-of-the-random-service-${n}`]);
  const env = { ...Object.fromEntries(keys), HOOK_SECRET: 'x'.repeat(32) };
  const workspace = await testWorkspace({ text: settingsText(services), dataDir, env, database });
  await workspace.work();
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
        database,
        dataDir,
        why,
      };
      for (const step of steps) await STEPS[step](world);
      const status = why.wrong.length > 0 ? 'wrong' : why.refused.length > 0 ? 'refused' : 'handled';
      checked[n] = { drawn, status, why: [...why.wrong, ...why.refused] };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
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

const mailOf = (n: number) => `person${n}@example.com`;
/** As people type them: in any case, with a phone in any of its forms. */
const typedMail = (n: number) => (n % 3 === 1 ? `Person${n}@Example.COM` : mailOf(n));
const phoneOf = (n: number) => `+49 (30) 55${String(n).padStart(4, '0')}-0`;
const lower = (value: unknown) => String(value).toLowerCase();

async function checkContacts(world: World): Promise<void> {
  const { service, random, why } = world;
  const { contacts, customers } = service.records;
  const { contacts: count, customers: known } = world.drawn.sizes;
  for (let n = 0; n < known; n++) {
    service.add('customers', { full_name: `Person ${n}`, email: mailOf(n), phone_number: '', gender: 'none' });
  }
  for (let n = 0; n < count; n++)
    service.add('contacts', { first_name: 'Person', last_name: String(n), email: typedMail(n), phone: phoneOf(n) });
  const before = customers.map(({ id, fields }) => JSON.stringify([id, fields]));
  const expected = new Set([...customers, ...contacts].map(({ fields }) => lower(fields.email)));

  const inStep = (step: string, isDone: boolean) => {
    const mails = customers.map(({ fields }) => lower(fields.email));
    const doubled = mails.filter((mail, i) => mails.indexOf(mail) !== i);
    if (doubled.length > Number(mayHideTheFirst(world.drawn)))
      why.wrong.push(`${step}: ${doubled.length} customers are there twice`);
    const strangers = mails.filter((mail) => !expected.has(mail));
    if (strangers.length > 0) why.wrong.push(`${step}: unexpected customers: ${strangers.join(', ')}`);
    if (isDone && new Set(mails).size !== expected.size)
      why.wrong.push(`${step}: ${mails.length} customers instead of ${expected.size}`);
  };
  const first = await sync(world, `contacts-${world.n}`, 'first sync');
  inStep('first sync', first);
  const changed = before.filter((was, i) => JSON.stringify([customers[i]?.id, customers[i]?.fields]) !== was);
  if (changed.length > 0) why.wrong.push(`first sync: ${changed.length} customers that were there were changed`);
  if (!first) return;

  const writes = service.writes();
  if (!(await sync(world, `contacts-${world.n}`, 'second sync'))) return;
  inStep('second sync', true);
  if (service.writes() !== writes) why.wrong.push(`second sync: ${service.writes() - writes} writes`);
  const edited = contacts.at(random.int(Math.max(1, contacts.length)));
  if (edited === undefined) return;
  edited.fields = { ...edited.fields, last_name: 'Edited' };
  const done = await sync(world, `contacts-${world.n}`, 'third sync');
  const named = customers
    .filter(({ fields }) => fields.full_name === 'Person Edited')
    .map(({ fields }) => lower(fields.email));
  const isRight = named.length === 1 && named[0] === lower(edited.fields.email);
  if (done ? !isRight : named.length > 1)
    why.wrong.push(`third sync: edited ${edited.fields.email}, and updated ${named}`);
  inStep('third sync', done);
}

/** True if the run is done and every row succeeded; otherwise reports why not. */
async function sync(world: World, name: string, step: string): Promise<boolean> {
  const begun = await world.workspace.startSync(name, { lane: 'batch', dryRun: false });
  await (await world.workspace.work()).attend(begun.run);
  const run = await ended(world, begun.run.id);
  return isWell(world, run, step);
}

async function isWell({ database, why }: World, run: Run, step: string): Promise<boolean> {
  if (run.status !== 'done') {
    why.refused.push(`${step}: ${run.status}: ${run.errorCode}: ${run.error}`);
    return false;
  }
  const { review, rejected, invalid, unknown } = await countRows(database.pool, run.id);
  if (review + rejected + invalid + unknown === 0) return true;
  const reasons = new Set<string>();
  for await (const row of reportRows(database.pool, run.id)) {
    if (['review', 'rejected', 'invalid', 'unknown'].includes(row.verdict))
      reasons.add(`${row.reason}: ${statementFor(row.reason, row.facts)}`);
  }
  const notes = run.notes.map((note) => ` | ${note}`);
  const rows = review + rejected + invalid + unknown;
  why.refused.push(`${step}: ${rows} rows: ${[...reasons].slice(0, 2).join(' | ')}${notes.join('')}`);
  return false;
}

/** A run that does not end is as wrong as one that ends wrong. */
async function ended({ database, why }: World, runId: string): Promise<Run> {
  return stopped(database, runId, { timeout: 240_000 }).catch(async () => {
    const run = await readRun(database.pool, runId);
    const rows = await database.pool.query(
      'select state, verdict, reason, count(*)::int as n from ledger.rows where run_id = $1 group by 1, 2, 3',
      [runId],
    );
    const seen = `${run.error ?? ''} ${run.notes.join('; ')} ${JSON.stringify(rows.rows)}`;
    why.wrong.push(`run ${runId} is still running (${run.phase}): ${seen}`);
    return run;
  });
}

interface Row {
  readonly label: string;
  readonly customer: Kept;
  readonly byMail: boolean;
}

async function checkOrders(world: World): Promise<void> {
  const { service, random, why } = world;
  const { orders, customers } = service.records;
  while (customers.length < 4) {
    const n = 900 + customers.length;
    service.add('customers', { full_name: `Person ${n}`, email: mailOf(n), phone_number: '' });
  }
  const there = world.drawn.sizes.orders;
  for (let n = 0; n < there; n++) {
    const client_id = customers[n % customers.length]?.id;
    service.add('orders', { order_id: `OLD-${n}`, client_id, amount: n + 0.5, status: 'new', description: 'old' });
  }
  const rows = Array.from({ length: random.pick([1, 6, 19]) }, (_, n): Row => {
    const isOld = n % 3 === 0 && n < there;
    const customer = customers[isOld ? n % customers.length : random.int(customers.length)] as Kept; // safe: in range
    return { label: isOld ? `OLD-${n}` : `NEW-${n}`, customer, byMail: random.chance(0.4) };
  });
  const written = (label: string) => (world.drawn.oddity === 'capitalizes labels' ? label.toLowerCase() : label);
  const csv = (amount: (n: number) => string) =>
    [
      'order_id,client_id,customer_email,amount,status',
      ...rows.map(({ label, customer, byMail }, n) =>
        [
          label.startsWith('OLD') ? label : written(label),
          byMail ? '' : customer.id,
          byMail ? customer.fields.email : '',
          amount(n),
          'new',
        ].join(','),
      ),
      '',
    ].join('\n');
  const keys = (kept: readonly Kept[]) => kept.map(({ fields }) => `${fields.client_id} ${fields.order_id}`);
  const wanted = new Set([...keys(orders), ...rows.map(({ customer, label }) => `${customer.id} ${label}`)]);
  const compare = (step: string, isDone: boolean) => {
    const now = keys(orders);
    const distinct = new Set(now).size;
    if (now.length - distinct > Number(mayHideTheFirst(world.drawn)))
      why.wrong.push(`${step}: ${now.length - distinct} orders twice`);
    const strange = now.filter((key) => !wanted.has(key));
    if (strange.length > 0) why.wrong.push(`${step}: unexpected orders: ${strange.slice(0, 3).join('; ')}`);
    if (isDone && distinct !== wanted.size) why.wrong.push(`${step}: ${distinct} orders instead of ${wanted.size}`);
  };
  const old = (n: number) => (rows[n]?.label.startsWith('OLD') ? n + 0.5 : n + 10.25).toFixed(2);
  const first = await load(world, csv(old), 'skip', 'first load');
  compare('first load', first);
  if (!first) return;
  const writes = service.writes();
  const changed = csv((n) => `${n + 70}.75`);
  const again = await load(world, changed, 'update', 'second load');
  compare('second load', again);
  const amounts = new Map(
    orders.map(({ fields }) => [`${fields.client_id} ${fields.order_id}`, Number(fields.amount)]),
  );
  const off = rows.filter(({ customer, label }, n) => amounts.get(`${customer.id} ${label}`) !== n + 70.75);
  if (again && off.length > 0) why.wrong.push(`second load: ${off.length} orders were not updated`);
  const touched = [...amounts].filter(
    ([key]) => key.includes('OLD') && !rows.some((row) => key.endsWith(` ${row.label}`)),
  );
  if (touched.some(([key, amount]) => amount !== Number(key.split('OLD-')[1]) + 0.5))
    why.wrong.push('second load: an order that no row names was changed');
  if (again && world.drawn.faults === 0 && service.writes() - writes !== rows.length)
    why.wrong.push(`second load: ${service.writes() - writes} writes for ${rows.length} rows`);
  if (!again) return;
  const before = service.writes();
  compare('third load', await load(world, changed, 'skip', 'third load'));
  if (service.writes() !== before) why.wrong.push(`third load: ${service.writes() - before} writes`);
}

async function load(world: World, csv: string, existing: 'skip' | 'update', step: string): Promise<boolean> {
  const { workspace, dataDir, database, why } = world;
  const source = path.join(dataDir, `${world.n}-${existing}.csv`);
  await writeFile(source, csv);
  try {
    const { begun } = await receiveFile(workspace, nameOf(world.n), source, { existing });
    await (await workspace.work()).attend(await readRun(database.pool, begun.run.id));
    return isWell(world, await ended(world, begun.run.id), step);
  } catch (error) {
    why.refused.push(`${step}: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}

async function checkTasks(world: World): Promise<void> {
  const { service, random, why } = world;
  const { tasks } = service.records;
  const addTask = (n: number) =>
    service.add('tasks', { taskName: `Task ${n}`, description: '', isCompleted: random.chance(0.3) });
  const count = world.drawn.sizes.tasks;
  for (let n = 0; n < count; n++) addTask(n);
  const compare = (step: string, told: readonly string[] | undefined, expected: readonly string[]) => {
    if (told === undefined) return;
    if (told.toSorted().join() !== expected.toSorted().join())
      why.wrong.push(`${step}: told [${told.join(', ')}] instead of [${expected.join(', ')}]`);
  };
  const baseline = await scan(world, 'baseline');
  compare('baseline', baseline, []);
  if (baseline === undefined) return;
  const expected: string[] = [];
  const changed = tasks.at(0);
  if (changed !== undefined) {
    const isCompleted = changed.fields.isCompleted !== true;
    changed.fields = { ...changed.fields, isCompleted };
    expected.push(`${changed.id} ${isCompleted ? 'completed' : 'reopened'}`);
  }
  const added = addTask(count);
  expected.push(`${added.id} ${added.fields.isCompleted ? 'completed' : 'created'}`);
  compare('second scan', await scan(world, 'second scan'), expected);
  compare('third scan', await scan(world, 'third scan'), []);
}

/** What the outbox received; undefined if the run did not get that far. */
async function scan(world: World, step: string): Promise<readonly string[] | undefined> {
  const { database, workspace, why } = world;
  const begun = await workspace.startSync(`tasks-${world.n}`, { lane: 'batch', dryRun: false });
  await (await workspace.work()).attend(begun.run);
  const run = await stopped(database, begun.run.id, { hasStopped: isScanned, timeout: 240_000 });
  if (run.status === 'failed' || run.status === 'paused') {
    why.refused.push(`${step}: ${run.status}: ${run.errorCode}: ${run.error}`);
    await endRun(database.pool, run.id, 'done').catch(() => undefined);
    return undefined;
  }
  if (run.status === 'running') await endRun(database.pool, run.id, 'done');
  if (run.scan === 'unproven') {
    why.refused.push(`${step}: unproven: ${run.notes.join('; ')}`);
    return undefined;
  }
  const found = await database.pool.query<{ told: string }>(
    `select task_id || ' ' || event as told from ledger.deliveries where run_id = $1`,
    [run.id],
  );
  return found.rows.map(({ told }) => told);
}
