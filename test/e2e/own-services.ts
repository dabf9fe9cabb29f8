/** Several harnesses as services, and a ledger of its own with settings that point to them. Commands run in this process. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createKey, ensureTenant } from '../../src/service/tenants.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { type CommandResult, databaseUrl } from '../cli/command.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import type { Between } from '../support/harness/front-server.ts';
import { openHarness, TEST_KEY } from '../support/harness/harness.ts';
import { csvOf } from '../support/harness/orders.ts';
import { commandsIn } from './commands.ts';

/** Tenant one is the tenant of a harness. */
export const KEYS = {
  one: TEST_KEY,
  two: 'the-key-of-tenant-two-0002',
  /** Another key of tenant one. */
  spare: 'the-spare-key-of-tenant-one-03',
};
export type KeyName = keyof typeof KEYS;

export const BUDGET = '{ requests: 1000, per: 1s, settle: 200ms, timeout: 2s }';

export interface OwnService {
  readonly database: FreshDatabase;
  readonly url: string;
  /** From now on, the handler between the worker and the service. */
  between(between?: Between): void;
}

export interface ServiceOptions {
  /** Number of sample contacts of the first tenant, with their related records. Default 0. */
  readonly contacts?: number;
  /** Seed of the sample: another number gives other people under the same ids. */
  readonly people?: number;
  /** The keys that exist. */
  readonly tenants?: readonly KeyName[];
}

export interface NamedAccount {
  readonly url: string;
  readonly key?: KeyName;
  readonly budget?: string;
}

export type OwnServices = Awaited<ReturnType<typeof openOwnServices>>;

export async function openOwnServices() {
  const closers: (() => Promise<unknown>)[] = [];
  const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-own-'));
  const ledger = await freshDatabase();
  closers.push(
    () => rm(cwd, { recursive: true, force: true }),
    () => ledger.close(),
  );
  const env = {
    DATABASE_URL: databaseUrl(ledger.connection),
    KEY_ONE: KEYS.one,
    KEY_TWO: KEYS.two,
    KEY_SPARE: KEYS.spare,
  };
  const { here: run, file } = commandsIn({ cwd, env });
  return {
    ledger,
    cwd,
    env,
    file,
    async start({ contacts = 0, people = 1, tenants = ['one'] }: ServiceOptions = {}): Promise<OwnService> {
      const { database, front, close } = await openHarness();
      closers.push(close);
      const named = tenants.map((name) => ({ name: name === 'two' ? name : 'test', key: KEYS[name] }));
      if (contacts > 0) await seedWorkspace(database.pool, { contacts, seed: people, tenants: named });
      for (const { name, key } of named)
        await createKey(database.pool, (await ensureTenant(database.pool, name)).id, { key });
      return { database, url: front.url, between: front.set };
    },
    /**
     * Writes the settings: these accounts, each with a contact sync called `sync-` and its name. Accounts with a hook also
     * have a mirror of tasks called `mirror-` and their name.
     */
    async settle(accounts: Readonly<Record<string, NamedAccount>>, hookUrl?: string): Promise<void> {
      const lines = Object.entries(accounts).map(
        ([name, { url, key = 'one', budget = BUDGET }]) =>
          `  ${name}: { url: "${url}", apiKey: { env: KEY_${key.toUpperCase()} }, budget: ${budget} }`,
      );
      const syncs = Object.keys(accounts).map((name) => `  sync-${name}: { job: contacts, account: ${name} }`);
      if (hookUrl !== undefined) {
        const how = 'options: { backfill: true }, targets: [hook]';
        syncs.push(
          ...Object.keys(accounts).map((name) => `  mirror-${name}: { job: tasks, account: ${name}, ${how} }`),
        );
      }
      const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
      const hook = `targets: { hook: { type: webhook, url: "${hookUrl}", secret: ${secret}, allowPrivate: true } }\n`;
      const text = `accounts:\n${lines.join('\n')}\nsyncs:\n${syncs.join('\n')}\n${hookUrl === undefined ? '' : hook}`;
      await file('lockstep.yaml', text);
    },
    run,
    /** Writes a file of orders with these order_ids and customers, and loads it. */
    async load(name: string, orders: readonly (readonly [label: string, customer: number])[]): Promise<CommandResult> {
      const lines = orders.map(([label, customer], i) => `${label},${customer},${i}.50,new`);
      await file(name, csvOf('order_id,client_id,amount,status', lines));
      return run('orders', 'load', name, '--account', 'acme', '--yes');
    },
    async close(): Promise<void> {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

/** The content of every customer of the service, and how often it was written. */
export async function customersOf({ database }: OwnService): Promise<readonly string[]> {
  const found = await database.pool.query<{ said: string }>(
    `select concat_ws(' ', tenant_id, id, fields->>'email', fields->>'full_name') as said from service.customers order by 1`,
  );
  return found.rows.map(({ said }) => said);
}
