/** Charts: figures over time, how long deliveries took, and the last hour of an account. */
import { formatCount, plural } from '../../base/counts.ts';
import type { BudgetMinute } from '../../engine/ledger/scopes/budget-minutes.ts';
import type { Throughput } from '../../engine/ledger/views/run-figures.ts';
import type { Lag } from '../../mirror/outbox/delays.ts';
import { formatShare, formatTook } from '../../operator/format.ts';
import { accountPath } from '../../operator/page-paths.ts';
import { Section, Table, Time } from './parts.tsx';

const HEIGHT = 80;
const GAP = 0.15;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface OverTimeProps {
  /** Titles; those that end with "a second" are drawn on one scale, the others as counts. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly at: Date; readonly values: readonly (number | null)[] }[];
  /** The times have seconds, and the table is folded. */
  readonly exact?: boolean;
}

/** Figures over time: a table, which the script draws as a chart and folds. */
export function OverTime({ columns, rows, exact = false }: OverTimeProps) {
  return (
    <details class="plotted" open={!exact}>
      <summary>As a table</summary>
      <Table columns={['From', ...columns.map((title) => ({ title, as: 'number' }) as const)]}>
        {rows.map(({ at, values }) => (
          <tr>
            <td class="nowrap">
              <Time at={at} exact={exact} />
            </td>
            {values.map((value) => (
              <Figure value={value} />
            ))}
          </tr>
        ))}
      </Table>
    </details>
  );
}

function Figure({ value }: { readonly value: number | null }) {
  if (value === null) return <td class="number">–</td>;
  return (
    <td class="number" data-value={value}>
      {value > 0 && value < 100 && !Number.isInteger(value) ? value.toFixed(2) : formatCount(value)}
    </td>
  );
}

interface SpeedProps {
  readonly throughput: Throughput;
  readonly account: string;
  /** The budget of the account meanwhile. */
  readonly minutes: readonly BudgetMinute[];
}

/** How fast a run sent its rows, beside the budget. */
export function Speed({ throughput: { sent, widthS, startedAt }, account, minutes }: SpeedProps) {
  const total = sent.reduce((sum, n) => sum + n, 0);
  const most = formatCount(Math.max(...sent, 1));
  const byMinute = new Map(minutes.map((minute) => [minute.at.getTime(), minute]));
  const rows = sent.map((n, i) => {
    const at = new Date(startedAt.getTime() + i * widthS * 1_000);
    const minute = byMinute.get(at.getTime() - (at.getTime() % MINUTE_MS));
    return { at, values: [n / widthS, minute?.perSecond ?? null] };
  });
  return (
    <>
      <p class="dim">
        {plural(total, 'send')}, at most {most} in {formatTook(widthS * 1_000)}. The page of{' '}
        <a id="budget" href={accountPath(account)}>
          account {account}
        </a>{' '}
        shows the calls of all runs. The allowed rate is kept for a week. A row counts in the second in which its answer
        was stored, and after a pause the budget allows a burst, so single seconds can be above the rate.
      </p>
      <OverTime columns={['Rows sent a second', 'Allowed a second']} rows={rows} exact />
    </>
  );
}

/** How long deliveries took, for each of these targets; nothing without one. */
export function Lags({ of }: { readonly of: readonly Lag[] }) {
  if (of.length === 0) return null;
  return (
    <Section title="Time until delivered, last 24 hours">
      <div class="columns">{of.map(LagChart)}</div>
    </Section>
  );
}

function LagChart({ target, longestMs, from }: Lag) {
  const words = `${target}: at most ${formatTook(Math.max(...longestMs))} until a delivery arrived`;
  return (
    <figure class="chart">
      <figcaption>{words}</figcaption>
      <Svg values={longestMs} label={words} />
      <p class="chart-ends dim">
        <Time at={from} /> <Time at={new Date(from.getTime() + longestMs.length * HOUR_MS)} />
      </p>
    </figure>
  );
}

/** Calls of an account: the last minutes as a gauge, and the last hour minute by minute. `most`: calls a second that are allowed. */
export function LastHour({ minutes, most }: { readonly minutes: readonly BudgetMinute[]; readonly most: number }) {
  if (minutes.length === 0) return <small class="dim">no call in the last hour</small>;
  const calls = minutes.map((minute) => minute.calls);
  const total = calls.reduce((sum, n) => sum + n, 0);
  return (
    <span class="spark">
      <Gauge minutes={minutes.slice(-2)} most={most} />
      <Svg values={calls} label={`Calls in each minute of the last hour, at most ${formatCount(Math.max(...calls))}`} />
      <small class="dim">{plural(total, 'call')} in the last hour</small>
    </span>
  );
}

/** The last whole minute, and the one since. */
function Gauge({ minutes, most }: { readonly minutes: readonly BudgetMinute[]; readonly most: number }) {
  const seconds = (Date.now() - (minutes[0]?.at.getTime() ?? 0)) / 1_000;
  const share = minutes.reduce((sum, { calls }) => sum + calls, 0) / seconds / most;
  const words = `${formatShare(Math.min(1, share))} used in the last 2 min`;
  return (
    <span class="gauge">
      <meter min="0" max="1" value={Math.min(1, share)} aria-label={words} />
      <small class="dim">{words}</small>
    </span>
  );
}

function Svg({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(...values, 1);
  return (
    <svg viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {values.map((n, i) => (
        <rect x={i + GAP / 2} width={1 - GAP} y={HEIGHT - (n / most) * HEIGHT} height={(n / most) * HEIGHT} />
      ))}
    </svg>
  );
}
