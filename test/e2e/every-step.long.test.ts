/** A process that is killed at each of its durable steps, alone and beside another one, with and without faults. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../../src/service/server.ts';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { withTasks } from '../support/harness/tasks.ts';
import { people } from '../support/people.ts';
import { byLength } from '../support/property-runs.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';
import { type Step, type Watch, watchSteps } from './every-step.ts';

const SECRET = 'a signing secret that is hard to guess';
const COUNT = 12;
const LATE = 3;
const FAULTY = { faults: { seed: 5, rate: 0.1, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 200 } };

async function open(hook: string) {
  const harness = await openCommandHarness({
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 250ms, concurrency: 4 }',
    syncs: {
      people: 'job: contacts',
      asked: 'job: contacts, options: { approveAbove: 1 }',
      mirror: 'job: tasks, targets: [hook], options: { backfill: true }',
    },
    targets: { hook: `type: webhook, url: "${hook}", secret: { env: SECRET }, allowPrivate: true` },
    env: { SECRET },
  });
  return withTasks(harness) as typeof harness & ReturnType<typeof withTasks>; // safe: it adds to the same object
}

let receiver: WebhookReceiver;
let harness: Awaited<ReturnType<typeof open>>;
let watch: Watch;
let faulty: Service;
beforeAll(async () => {
  receiver = await startWebhookReceiver(SECRET);
  harness = await open(receiver.hook);
  watch = await watchSteps(harness.database, harness.front);
  faulty = await harness.anotherService(FAULTY);
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

interface Scenario {
  /** The one step that `npx vitest run` tries; `npm run test:chaos` tries all. */
  readonly usual: Step;
  /** Resolves with the command whose process is killed. */
  prepare(): Promise<readonly string[]>;
  /** Runs what a person would run then, and compares what is there with what has to be. */
  check(): Promise<void>;
}

const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test', '--yes', '--create-customers'];
const emails = Array.from({ length: COUNT }, (_, n) => `O-${n + 1},new${n % 4}@example.com,${n}`);

/** What `runs show` says about the run that began first. */
async function firstRun() {
  const found = await harness.database.pool.query('select id from ledger.runs order by created_at limit 1');
  return (await harness.here('runs', 'show', found.rows[0].id)).json;
}

/** Each contact is imported once, and the run says so. */
async function checkPeople(counts: unknown): Promise<void> {
  expect(counts).toMatchObject({ in: COUNT, created: COUNT });
  expect([...(await harness.commits()).values()]).toEqual(Array(COUNT).fill(1));
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'orders and their customers are created': {
    usual: { kind: 'answer', name: 'POST /api/v1/orders/create', nth: 5 },
    async prepare() {
      await harness.file('orders.csv', csvOf('order_id,customer_email,amount', emails));
      return LOAD;
    },
    async check() {
      const { code, json } = await harness.here(...LOAD);
      expect([code, json.error, json.counts]).toMatchObject([0, undefined, { in: COUNT, created: COUNT }]);
      expect(await harness.orderCommits()).toEqual(eachOnce(COUNT));
      expect((await harness.customers()).map(({ email }) => email).sort()).toEqual(
        [0, 1, 2, 3].map((n) => `new${n}@example.com`),
      );
    },
  },
  'contacts are imported': {
    usual: { kind: 'write', name: 'insert verdicts', nth: 6 },
    async prepare() {
      await harness.addContacts(people(COUNT));
      return ['run', 'people'];
    },
    async check() {
      const { code, json } = await harness.here('run', 'people');
      expect([code, json.error]).toEqual([0, undefined]);
      await checkPeople((await firstRun()).counts);
    },
  },
  'a run is approved': {
    usual: { kind: 'write', name: 'update runs', nth: 1 },
    async prepare() {
      await harness.addContacts(people(COUNT));
      const { code, json } = await harness.here('run', 'asked');
      expect(code).toBe(3);
      return ['runs', 'resume', json.run];
    },
    async check() {
      const { run, state } = await firstRun();
      await harness.here(...(state === 'awaiting-approval' ? ['runs', 'resume', run] : ['run', 'asked']));
      const now = await firstRun();
      expect(now.status).toBe('done');
      await checkPeople(now.counts);
    },
  },
  'tasks are scanned and delivered': {
    usual: { kind: 'write', name: 'update deliveries', nth: 12 },
    async prepare() {
      await harness.addTasks(COUNT);
      await harness.complete(2);
      return ['run', 'mirror'];
    },
    async check() {
      await harness.here('run', 'mirror');
      expect((await harness.here('run', 'mirror')).code).toBe(0);
      const heard = receiver.events as readonly {
        readonly data: { readonly task: { id: string; isCompleted: boolean } };
      }[]; // safe: checked by the receiver
      const last = new Map(heard.map(({ data: { task } }) => [task.id, task.isCompleted]));
      expect(last).toEqual(new Map(Array.from({ length: COUNT }, (_, n) => [String(n + 1), n === 1])));
      const open = await harness.database.pool.query(`select 1 from ledger.deliveries where state <> 'ended'`);
      expect([receiver.problems, open.rowCount]).toEqual([[], 0]);
    },
  },
  'an audit is made': {
    usual: { kind: 'write', name: 'update audit_debts', nth: 1 },
    async prepare() {
      const { pool } = harness.database;
      const faults = {
        rate: 1,
        kinds: ['late-commit' as const],
        lateMs: 600_000,
        limit: LATE,
        operations: ['orders.create'],
      };
      const late = await harness.anotherService({ faults });
      harness.front.passTo(late.url);
      await harness.addNumberedCustomers(3);
      await harness.file('orders.csv', ordersCsv(COUNT));
      expect(await harness.here(...LOAD)).toMatchObject({ code: 0, json: { counts: { created: COUNT } } });
      await late.commitLate();
      await late.close();
      harness.front.passTo(harness.service.url);
      await pool.query(`update ledger.audit_debts set paid_at = null, doubt_at = clock_timestamp() - interval '3 h'`);
      await pool.query(`update ledger.attempts set at = at - interval '3 h'`);
      await pool.query(
        `update ledger.runs set created_at = created_at - interval '3 h', ended_at = ended_at - interval '3 h'`,
      );
      return ['run', 'people'];
    },
    async check() {
      await harness.here('run', 'people');
      const { counts, audit } = await firstRun();
      expect(counts).toMatchObject({ in: COUNT, created: COUNT - LATE, review: LATE });
      expect(audit).toMatchObject({ open: 0, violations: LATE });
    },
  },
};

/** Starts a process whose connections to Postgres have this name. */
function start(name: string, ...args: readonly string[]) {
  const { cwd, env = {} } = harness.around;
  const url = `${env.DATABASE_URL}?application_name=${name}`;
  return startLockstep([...args, '--config', 'lockstep.yaml', '--json'], { cwd, env: { ...env, DATABASE_URL: url } });
}

/** Ends with true if the step was reached. */
async function killAt(step: Step, { prepare, check }: Scenario, { workers, hasFaults }: How): Promise<boolean> {
  await harness.reset();
  harness.front.passTo(harness.service.url);
  const command = await prepare();
  if (hasFaults) harness.front.passTo(faulty.url);
  const other = workers > 1 ? start('other', 'start', '--roles', 'worker') : undefined;
  await other?.ready();
  await watch.restart();
  const { reached, release } = await watch.arm(step);
  const victim = start('victim', ...command);
  const who = await Promise.race([reached, victim.ended.then(() => undefined)]);
  if (who !== undefined) (who === 'other' ? other : victim)?.signal('SIGKILL');
  if (who !== undefined && who !== 'other') expect((await victim.ended).code).toBeNull();
  await release({ isLost: workers === 1 });
  await victim.ended;
  await check();
  other?.signal('SIGKILL');
  await other?.ended;
  return who !== undefined;
}

interface How {
  readonly workers: 1 | 2;
  readonly hasFaults: boolean;
}

const PLAIN: How = { workers: 1, hasFaults: false };
const ways: readonly How[] = [
  PLAIN,
  { workers: 2, hasFaults: false },
  { workers: 1, hasFaults: true },
  { workers: 2, hasFaults: true },
];

async function stepsOf({ prepare, check }: Scenario): Promise<readonly Step[]> {
  await harness.reset();
  harness.front.passTo(harness.service.url);
  const command = await prepare();
  await watch.restart();
  await start('victim', ...command).ended;
  const steps = await watch.steps();
  await check();
  return steps;
}

/** Each step is tried in one of the ways; another number tries it in another way. */
const WAY = Number(process.env.WAY ?? 0);

test.each(Object.entries(scenarios))(
  '%s by a process that is killed at each step: nothing is lost or doubled',
  async (name, scenario) => {
    const steps = byLength({ few: [scenario.usual], all: undefined }) ?? (await stepsOf(scenario));
    const missed: string[] = [];
    const failed: string[] = [];
    for (const [n, step] of steps.entries()) {
      const way = ways[(n + WAY) % ways.length] ?? PLAIN;
      const what = `${step.kind} ${step.nth} of ${step.name}, ${way.workers} workers${way.hasFaults ? ', faults' : ''}`;
      const isReached = await killAt(step, scenario, way).catch((error: unknown) => {
        failed.push(`killed at ${what}: ${error instanceof Error ? error.stack : String(error)}`);
        process.stdout.write(`${failed.at(-1)}\n`);
        return true;
      });
      if (!isReached) missed.push(what);
    }
    process.stdout.write(`${name}: ${steps.length} steps, not reached: ${missed.join('; ') || 'none'}\n`);
    expect(failed).toEqual([]);
    expect(missed.length).toBeLessThan(Math.ceil(steps.length / 4));
  },
  byLength({ few: 120_000, all: 60 * 60_000 }),
);
