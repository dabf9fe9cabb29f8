/** Charts of bars: rows sent over the time of a run, and how long deliveries took. */
import type { BudgetMinute } from '../engine/ledger/budget-minutes.ts';
import type { Throughput } from '../engine/ledger/run-figures.ts';
import type { Lag } from '../mirror/outbox/lag.ts';
import { formatCount, formatTook, plural } from '../operator/words.ts';
import { Time } from './parts.tsx';

const HEIGHT = 80;
const GAP = 0.15;
const HOUR_MS = 3_600_000;

export function Sent({ throughput: { sent, widthS, startedAt } }: { readonly throughput: Throughput }) {
  const total = sent.reduce((sum, n) => sum + n, 0);
  const most = formatCount(Math.max(...sent, 1));
  const words = `${formatCount(total)} sends, at most ${most} in ${formatTook(widthS * 1_000)}`;
  return <Bars values={sent} from={startedAt} widthMs={widthS * 1_000} words={words} />;
}

/** The longest delivery of each hour. */
export function Lags({ lag: { target, longestMs, from } }: { readonly lag: Lag }) {
  const words = `${target}: at most ${formatTook(Math.max(...longestMs))} until a delivery arrived`;
  return <Bars values={longestMs} from={from} widthMs={HOUR_MS} words={words} />;
}

/** Calls of an account, minute by minute. */
export function LastHour({ minutes }: { readonly minutes: readonly BudgetMinute[] }) {
  if (minutes.length === 0) return <small class="dim">no call in the last hour</small>;
  const calls = minutes.map((minute) => minute.calls);
  const total = calls.reduce((sum, n) => sum + n, 0);
  return (
    <span class="spark">
      <Svg values={calls} label={`Calls in each minute of the last hour, at most ${formatCount(Math.max(...calls))}`} />
      <small class="dim">{plural(total, 'call')} in the last hour</small>
    </span>
  );
}

interface BarsProps {
  readonly values: readonly number[];
  readonly from: Date;
  /** The time that a bar covers. */
  readonly widthMs: number;
  readonly words: string;
}

function Bars({ values, from, widthMs, words }: BarsProps) {
  return (
    <figure class="chart">
      <Svg values={values} label={words} />
      <figcaption>
        <span>
          <Time at={from} exact />
        </span>
        <span>{words}</span>
        <span>
          <Time at={new Date(from.getTime() + values.length * widthMs)} exact />
        </span>
      </figcaption>
    </figure>
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
