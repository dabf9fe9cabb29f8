/** Examinations of services: the embedded one over a seeded workspace, or a server of a test. */
import { onTestFinished } from 'vitest';
import { createClient } from '../../src/client/call/client.ts';
import { autoDialect } from '../../src/client/call/dialect.ts';
import { examine, type Report } from '../../src/doctor/examine.ts';
import type { Finding } from '../../src/doctor/probe.ts';
import type { ProbedAccount } from '../../src/doctor/probed-account.ts';
import { type Service, startService } from '../../src/service/server.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { type SeedCounts, seedWorkspace } from '../../src/service/testbed/seed.ts';
import { freshDatabase } from '../support/database.ts';
import { freeBudget } from '../support/free-budget.ts';

export const KEY = 'key-7d1e-canary-of-the-doctor';

export interface AccountOptions extends Partial<ProbedAccount> {
  readonly authorization?: { readonly scheme: string; readonly token: string };
  readonly writes?: boolean;
  readonly signal?: AbortSignal;
}

/** Examines the service at `url` once. */
export async function examineAt(url: string, options: AccountOptions = {}): Promise<Report> {
  const { authorization, writes = false, signal, ...own } = options;
  const { prefix = 'auto', dialect = autoDialect, timeoutMs = 2_000, concurrency = 4 } = own;
  const client = createClient({
    account: 'demo',
    baseUrl: url,
    apiKey: KEY,
    prefix,
    dialect,
    timeoutMs,
    concurrency,
    budget: freeBudget(),
    ...(authorization && { authorization }),
  });
  onTestFinished(() => client.close());
  const account: ProbedAccount = {
    name: 'demo',
    baseUrl: url,
    client,
    prefix,
    dialect,
    hasAuthorization: authorization !== undefined,
    ratePerSecond: 20,
    concurrency,
    timeoutMs,
    settleMs: 60_000,
    keySource: 'accounts.demo.apiKey',
    ...own,
  };
  return examine(account, { writes, ...(signal && { signal }) });
}

/** The first finding about a gap; `about` narrows it down. */
export function findingIn(report: Report, gap: string, about?: string): Finding | undefined {
  return report.findings.find((one) => one.gap === gap && (about === undefined || one.about === about));
}

export interface DoctorHarness {
  readonly counts: SeedCounts;
  /** Examines the workspace as a service of this behaviour shows it. */
  examine(behaviour?: BehaviourOptions, options?: AccountOptions): Promise<Examined>;
  close(): Promise<void>;
}

export interface Examined {
  readonly report: Report;
  /** The service's counts: requests, requests refused for their key, and commits. */
  readonly arrived: number;
  readonly writes: number;
}

export async function openDoctorHarness(contacts: number): Promise<DoctorHarness> {
  const database = await freshDatabase();
  const { tenants } = await seedWorkspace(database.pool, { contacts, tenants: [{ name: 'test', key: KEY }] });
  const commits = async (): Promise<number> =>
    Number((await database.pool.query('select count(*) as n from service.commits')).rows[0].n);
  const services: Service[] = [];
  return {
    counts: tenants[0]?.counts ?? fail(),
    async examine(behaviour = {}, options = {}) {
      const service = await startService({ pool: database.pool, behaviour });
      services.push(service);
      const before = await commits();
      const report = await examineAt(service.url, options);
      const arrived = service.traffic.total() + service.traffic.unauthorized();
      return { report, arrived, writes: (await commits()) - before };
    },
    async close() {
      await Promise.all(services.map((service) => service.close()));
      await database.close();
    },
  };
}

function fail(): never {
  throw new Error('nothing was seeded');
}
