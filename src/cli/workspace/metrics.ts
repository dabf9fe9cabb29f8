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
import type { RunReport } from '../../operator/report.ts';
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
  addGauges(registry, needs);
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `lockstep_${name}_total`, help, labelNames, registers });
  const histogram = (name: string, help: string, label: string, buckets: number[]) =>
    new Histogram({ name: `lockstep_${name}_seconds`, help, labelNames: [label], buckets, registers });
  const calls = counter('calls', 'Calls of the service that the budget granted.', 'account', 'operation', 'outcome');
  const callHelp = 'Time from the grant of the budget to the end of a call.';
  const callDuration = histogram('call_duration', callHelp, 'account', CALL_BUCKETS);
  const runs = counter('runs', 'Runs that ended or were paused in this process.', 'sync', 'status');
  const runHelp = 'Time from the start of a run to its end.';
  const runDuration = histogram('run_duration', runHelp, 'sync', RUN_BUCKETS);
  const rows = counter('rows', 'Rows of runs that are done, by verdict.', 'sync', 'verdict');
  const deliveriesHelp = 'Attempts to deliver a change to a target, by what followed.';
  const deliveries = counter('deliveries', deliveriesHelp, 'target', 'outcome');
  const lagHelp = 'Time from the scan that saw a change to its delivery.';
  const lag = histogram('delivery_lag', lagHelp, 'target', LAG_BUCKETS);
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

/** What does not answer now has no figures; the others are shown. */
function orNone<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  return inTime(answer, TIMEOUT_MS).catch(() => []);
}

type Figures<Label extends string> = readonly (readonly [labels: Record<Label, string>, figure: number])[];

/** Figures that are read whenever the metrics are. */
function addGauges(registry: Registry, { accounts, pool, queue, settings }: MetricsNeeds): void {
  const registers = [registry];
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: () => Figures<Label> | Promise<Figures<Label>>,
  ) =>
    new Gauge({
      name: `lockstep_${name}`,
      help,
      labelNames,
      registers,
      async collect() {
        const figures = await read();
        this.reset();
        for (const [labels, figure] of figures) this.set(labels, figure);
      },
    });
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
  const rateHelp =
    'Rate of the budget now, for all processes together: at least 1% below the configured one, and less after the service said "slow down".';
  gauge('budget_tokens_per_second', rateHelp, ['account'], () =>
    [...accounts.budgets()].flatMap(([account, { ratePerSecond }]) =>
      ratePerSecond === undefined ? [] : [[{ account }, ratePerSecond]],
    ),
  );
  const waitHelp = 'How long calls waited for the budget since this process started.';
  gauge('budget_wait_seconds', waitHelp, ['account', 'lane', 'quantile'], () =>
    [...accounts.budgets()].flatMap(([account, { waits }]) =>
      Object.entries(waits).flatMap(([lane, { p50Ms, p99Ms }]) =>
        Object.entries({ '0.5': p50Ms, '0.99': p99Ms }).flatMap(([quantile, ms]) =>
          ms === undefined ? [] : [[{ account, lane, quantile }, ms / 1_000] as const],
        ),
      ),
    ),
  );
  gauge('queue_jobs', 'Jobs in the queue that all workers share.', ['state'], async () => {
    const depth = await orNone(Promise.resolve(queue()?.depth() ?? {}).then(Object.entries<number>));
    return depth.map(([state, jobs]) => [{ state }, jobs]);
  });
  const overdueHelp = 'How long the next delivery to a target has been due; 0 if none is due.';
  gauge('delivery_overdue_seconds', overdueHelp, ['target'], async () => {
    const overdue = await orNone(overdueDeliveries(pool, Object.keys(settings().targets)));
    return overdue.map(({ target, overdueMs }) => [{ target }, overdueMs / 1_000]);
  });
}
