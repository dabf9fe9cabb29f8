/** Rows sent over the time of a run, as bars. */
import type { Throughput } from '../engine/ledger/run-charts.ts';
import { formatCount, formatTook } from '../operator/words.ts';
import { Time } from './parts.tsx';

const HEIGHT = 80;
const GAP = 0.15;

export function Sent({ throughput: { sent, widthS, startedAt } }: { readonly throughput: Throughput }) {
  const most = Math.max(...sent, 1);
  const total = sent.reduce((sum, n) => sum + n, 0);
  const endedAt = new Date(startedAt.getTime() + sent.length * widthS * 1_000);
  const words = `${formatCount(total)} sends, at most ${formatCount(most)} in ${formatTook(widthS * 1_000)}`;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${sent.length} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={words}>
        {sent.map((n, i) => (
          <rect x={i + GAP / 2} width={1 - GAP} y={HEIGHT - (n / most) * HEIGHT} height={(n / most) * HEIGHT} />
        ))}
      </svg>
      <figcaption>
        <span>
          <Time at={startedAt} exact />
        </span>
        <span>{words}</span>
        <span>
          <Time at={endedAt} exact />
        </span>
      </figcaption>
    </figure>
  );
}
