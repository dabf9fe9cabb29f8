/**
 * What this process has done and what waits, for Prometheus. Labels are names of the settings, operations, states and
 * verdicts only: their number is bounded, and none holds a secret or the content of a record.
 */
import type pg from 'pg';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { inTime } from '../../base/in-time.ts';
import type { CallEvent } from '../../client/call/client.ts';
import type { Accounts } from '../../engine/account/accounts.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { SharedQueue } from '../../engine/worker/queue.ts';
import { overdueDeliveries } from '../../mirror/outbox/delays.ts';
import type { OnAttempt } from '../../mirror/outbox/delivery-source.ts';
import type { RunReport } from '../../operator/run-report.ts';
import type { Settings } from '../../settings/settings.ts';
import { TIMEOUT_MS } from './readiness.ts';

const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const CALL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RUN_BUCKETS = [SECOND, 10 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR];
const LAG_BUCKETS = [SECOND, 5 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR, 72 * HOUR];

export interface Metrics {
  called(account: string, event: CallEvent): void;
  runStopped(run: Run, report: RunReport): void;
  readonly attempted: OnAttempt;
  readonly contentType: string;
  /** All metrics in Prometheus's text format. */
  text(): Promise<string>;
}

export interface MetricsNeeds {
  readonly pool: pg.Pool;
  readonly accounts: Pick<Accounts, 'budgets'>;
  readonly settings: () => Settings;
  /** Undefined while this process works on no runs. */
  readonly queue: () => Pick<SharedQueue, 'depth'> | undefined;
}

export function createMetrics(needs: MetricsNeeds): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const { settings } = needs;
  addBudgets(registry, needs);
  addBacklog(registry, needs);
  const calls = new Counter({
    name: 'lockstep_calls_total',
    help: 'Calls of the service that the budget granted.',
    labelNames: ['account', 'operation', 'outcome'] as const,
    registers,
  });
  const callDuration = new Histogram({
    name: 'lockstep_call_duration_seconds',
    help: 'Time from the grant of the budget to the end of a call.',
    labelNames: ['account'] as const,
    buckets: CALL_BUCKETS,
    registers,
  });
  const runs = new Counter({
    name: 'lockstep_runs_total',
    help: 'Runs that ended or were paused in this process.',
    labelNames: ['sync', 'status'] as const,
    registers,
  });
  const runDuration = new Histogram({
    name: 'lockstep_run_duration_seconds',
    help: 'Time from the start of a run to its end.',
    labelNames: ['sync'] as const,
    buckets: RUN_BUCKETS,
    registers,
  });
  const rows = new Counter({
    name: 'lockstep_rows_total',
    help: 'Rows of runs that are done, by verdict.',
    labelNames: ['sync', 'verdict'] as const,
    registers,
  });
  const deliveries = new Counter({
    name: 'lockstep_deliveries_total',
    help: 'Attempts to deliver a change to a target, by what followed.',
    labelNames: ['target', 'outcome'] as const,
    registers,
  });
  const lag = new Histogram({
    name: 'lockstep_delivery_lag_seconds',
    help: 'Time from the scan that saw a change to its delivery.',
    labelNames: ['target'] as const,
    buckets: LAG_BUCKETS,
    registers,
  });
  return {
    called(account, { operation, outcome, durationMs }) {
      calls.inc({ account, operation, outcome: outcome.status });
      callDuration.observe({ account }, durationMs / 1_000);
    },
    runStopped(run, { status, counts, durationMs }) {
      // A file or an audit has a run of its own: the type bounds the number of labels.
      const sync = settings().syncs[run.sync] === undefined ? run.type : run.sync;
      runs.inc({ sync, status });
      if (status !== 'paused') runDuration.observe({ sync }, durationMs / 1_000);
      if (status !== 'done') return;
      const { in: _in, ...verdicts } = counts;
      for (const [verdict, n] of Object.entries(verdicts)) if (n > 0) rows.inc({ sync, verdict }, n);
    },
    attempted(target, decision, lagMs) {
      deliveries.inc({ target, outcome: decision.status === 'ended' ? decision.verdict : decision.status });
      if (decision.status === 'ended') lag.observe({ target }, Math.max(0, lagMs) / 1_000);
    },
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

function addBudgets(registry: Registry, { accounts }: MetricsNeeds): void {
  const registers = [registry];
  new Counter({
    name: 'lockstep_budget_tokens_total',
    help: 'Tokens of the rate budget that this process has used.',
    labelNames: ['account'] as const,
    registers,
    collect() {
      this.reset();
      for (const [account, { used }] of accounts.budgets()) this.inc({ account }, used);
    },
  });
  new Gauge({
    name: 'lockstep_budget_tokens_per_second',
    help: 'Rate of the budget now, for all processes together: at least 1% below the configured one, and less after the service said "slow down".',
    labelNames: ['account'] as const,
    registers,
    collect() {
      this.reset();
      for (const [account, { ratePerSecond }] of accounts.budgets()) {
        if (ratePerSecond !== undefined) this.set({ account }, ratePerSecond);
      }
    },
  });
  new Gauge({
    name: 'lockstep_budget_wait_seconds',
    help: 'How long calls waited for the budget since this process started.',
    labelNames: ['account', 'lane', 'quantile'] as const,
    registers,
    collect() {
      this.reset();
      for (const [account, { waits }] of accounts.budgets()) {
        for (const [lane, { p50Ms, p99Ms }] of Object.entries(waits)) {
          if (p50Ms !== undefined) this.set({ account, lane, quantile: '0.5' }, p50Ms / 1_000);
          if (p99Ms !== undefined) this.set({ account, lane, quantile: '0.99' }, p99Ms / 1_000);
        }
      }
    },
  });
}

/** What does not answer now has no figures; the others are shown. */
function orNone<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  return inTime(answer, TIMEOUT_MS).catch(() => []);
}

function addBacklog(registry: Registry, { pool, queue, settings }: MetricsNeeds): void {
  const registers = [registry];
  new Gauge({
    name: 'lockstep_queue_jobs',
    help: 'Jobs in the queue that all workers share.',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      const depth = await orNone(Promise.resolve(queue()?.depth() ?? {}).then(Object.entries<number>));
      this.reset();
      for (const [state, jobs] of depth) this.set({ state }, jobs);
    },
  });
  new Gauge({
    name: 'lockstep_delivery_overdue_seconds',
    help: 'How long the next delivery to a target has been due; 0 if none is due.',
    labelNames: ['target'] as const,
    registers,
    async collect() {
      const overdue = await orNone(overdueDeliveries(pool, Object.keys(settings().targets)));
      this.reset();
      for (const { target, overdueMs } of overdue) this.set({ target }, overdueMs / 1_000);
    },
  });
}
