/** Charts of bars: rows sent over the time of a run, and how long deliveries took. */
import type { Throughput } from '../engine/ledger/run-charts.ts';
import type { Lag } from '../mirror/outbox/lag.ts';
import { formatCount, formatTook } from '../operator/words.ts';
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

interface BarsProps {
  readonly values: readonly number[];
  readonly from: Date;
  /** The time that a bar covers. */
  readonly widthMs: number;
  readonly words: string;
}

function Bars({ values, from, widthMs, words }: BarsProps) {
  const most = Math.max(...values, 1);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${values.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {values.map((n, i) => (
          <rect x={i + GAP / 2} width={1 - GAP} y={HEIGHT - (n / most) * HEIGHT} height={(n / most) * HEIGHT} />
        ))}
      </svg>
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
