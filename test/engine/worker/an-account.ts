/** An account whose service gives the answers of a test, and what a job of a run is given. */
import type pg from 'pg';
import pino from 'pino';
import type { Client } from '../../../src/client/call/client.ts';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import type { Account } from '../../../src/engine/account/account.ts';
import { createPermissions } from '../../../src/engine/account/permissions.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import type { JobContext, TargetAccess } from '../../../src/engine/worker/job.ts';
import { WORKER } from '../ledger/fresh-ledger.ts';

/** For jobs that use no account. */
export const noTargets: TargetAccess = {
  open: (name) => Promise.reject(new Error(`no target ${name} in this test`)),
  filterOf: () => undefined,
};

export function anAccount(
  call: Client['call'] = async () => ({ status: 'applied', httpStatus: 200, content: [] }),
): Account {
  return {
    name: 'acme',
    scope: 'acme',
    baseUrl: 'https://acme.example',
    service: 'https://acme.example',
    client: {
      call,
      stream: async () => ({ status: 'applied', httpStatus: 200, records: 0 }),
      inspect: async () => ({ outcome: { status: 'applied', httpStatus: 200, content: [] }, body: '', durationMs: 0 }),
      learntPrefixes: () => ({}),
      close: async () => {},
    },
    dialect: autoDialect,
    concurrency: 4,
    ratePerSecond: 100,
    timeoutMs: 1_000,
    settleMs: 100,
    keySource: 'accounts.acme.apiKey',
    checkKey: async () => ({ status: 'unclear', why: '', calls: 0 }),
    permissions: createPermissions(),
    takeRetry: async () => ({ status: 'granted' }),
    budgetStats: () => ({
      used: 0,
      limited: 0,
      ratePerSecond: undefined,
      learntPerSecond: undefined,
      blockedForMs: 0,
      retries: { granted: 0, empty: 0 },
      waits: {
        interactive: { p50Ms: undefined, p99Ms: undefined },
        batch: { p50Ms: undefined, p99Ms: undefined },
      },
    }),
  };
}

export function aJobContext(
  run: Run,
  pool: pg.Pool,
  mostClaims: number,
  signal = new AbortController().signal,
): JobContext<unknown> {
  return {
    run,
    options: {},
    account: anAccount(),
    targets: noTargets,
    need: async () => {},
    pool,
    worker: WORKER,
    log: pino({ level: 'silent' }),
    mostClaims,
    signal,
  };
}
