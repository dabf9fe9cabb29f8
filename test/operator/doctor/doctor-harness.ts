/** Examinations of services: the embedded one over a seeded workspace, or a server of a test. */
import { onTestFinished } from 'vitest';
import { createClient } from '../../../src/client/call/client.ts';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import { examine, type Report } from '../../../src/operator/doctor/examine.ts';
import type { Finding } from '../../../src/operator/doctor/probe.ts';
import type { ProbedAccount } from '../../../src/operator/doctor/probed-account.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import { seedWorkspace } from '../../../src/service/testbed/seed.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { openHarness, TEST_KEY } from '../../support/harness/harness.ts';
import { type Answer, type Reply, startHttpServer } from '../../support/http-server.ts';

export interface AccountOptions extends Partial<ProbedAccount> {
  readonly authorization?: { readonly scheme: string; readonly token: string };
  readonly writes?: boolean;
  readonly signal?: AbortSignal;
}

/** How services refuse a key. */
export const REFUSED: Reply = { status: 401, body: { status: 'error', content: null, message: 'unauthorized' } };

/** A server for the test that calls it. */
export async function serverOf(answer: Answer | Reply) {
  const server = await startHttpServer(answer);
  onTestFinished(() => server.close());
  return server;
}

/** Examines the service at `url` once. */
export async function examineAt(url: string, options: AccountOptions = {}): Promise<Report> {
  const { authorization, writes = false, signal, ...own } = options;
  const { prefix = 'auto', dialect = autoDialect, timeoutMs = 2_000, concurrency = 4 } = own;
  const client = createClient({
    account: 'demo',
    baseUrl: url,
    apiKey: TEST_KEY,
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
    isEmbedded: false,
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

export interface Examined {
  readonly report: Report;
  /** The service's counts: requests, requests refused for their key, and commits. */
  readonly arrived: number;
  readonly writes: number;
}

/** With a sample workspace of this size. */
export async function openDoctorHarness(contacts: number) {
  const harness = await openHarness();
  const { pool } = harness.database;
  await seedWorkspace(pool, { contacts, tenants: [{ name: 'test', key: TEST_KEY }] });
  const commits = async (): Promise<number> =>
    Number((await pool.query('select count(*) as n from service.commits')).rows[0].n);
  return Object.assign(harness, {
    /** Examines the workspace as a service of this behaviour shows it. */
    async examine(behaviour: BehaviourOptions = {}, options: AccountOptions = {}): Promise<Examined> {
      const service = await harness.anotherService(behaviour);
      const before = await commits();
      const report = await examineAt(service.url, options);
      const arrived = service.traffic.total() + service.traffic.unauthorized();
      return { report, arrived, writes: (await commits()) - before };
    },
  });
}
