/** The curves of a soak as SVG. */
import { svgOf } from '../../bench/small-charts.ts';
import type { Soak } from './soak.ts';

export function pictureOf(soaks: readonly Soak[]): string {
  const names = [...new Set(soaks.flatMap(({ samples }) => Object.keys(samples[0] ?? {})))];
  const minutes = Math.max(...soaks.map(({ samples }) => samples.length));
  const seriesOf = ({ hasRedis }: Soak) => (hasRedis ? 'with Redis' : 'without Redis');
  return svgOf({
    title: `Memory, open handles, ledger and queue in a soak of ${minutes} minutes`,
    heading: `A soak of ${minutes} minutes`,
    series: ['without Redis', 'with Redis'],
    charts: names.map((name) => ({
      name,
      lines: Object.fromEntries(
        soaks.map((soak) => [
          seriesOf(soak),
          soak.samples.flatMap((sample) => (name in sample ? [sample[name] ?? 0] : [])),
        ]),
      ),
    })),
  });
}
