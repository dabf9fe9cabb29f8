/** The curves of a soak as SVG: a small chart for each, with one line without Redis and one with it. */
import type { Soak } from './soak.ts';

const [WIDTH, HEIGHT] = [260, 110];
const [MARGIN, TITLE, HEADING, COLUMNS] = [16, 24, 32, 3];
const COLOURS = { without: '#1f6feb', with: '#bf3989' };

export function pictureOf(soaks: readonly Soak[]): string {
  const names = [...new Set(soaks.flatMap(({ samples }) => Object.keys(samples[0] ?? {})))];
  const rows = Math.ceil(names.length / COLUMNS);
  const [width, height] = [COLUMNS * (WIDTH + MARGIN) + MARGIN, HEADING + rows * (TITLE + HEIGHT + MARGIN)];
  const charts = names.map((name, n) => {
    const x = MARGIN + (n % COLUMNS) * (WIDTH + MARGIN);
    const y = HEADING + TITLE + Math.floor(n / COLUMNS) * (TITLE + HEIGHT + MARGIN);
    return `<g transform="translate(${x} ${y})">${chartOf(name, soaks)}</g>`;
  });
  const minutes = Math.max(...soaks.map(({ samples }) => samples.length));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>Memory, open handles, ledger and queue in a soak of ${minutes} minutes</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${MARGIN}" y="20" font-weight="600">A soak of ${minutes} minutes: <tspan fill="${COLOURS.without}">without Redis</tspan>, <tspan fill="${COLOURS.with}">with Redis</tspan></text>
${charts.join('\n')}
</svg>
`;
}

/** From zero to the highest value. */
function chartOf(name: string, soaks: readonly Soak[]): string {
  const valuesOf = ({ samples }: Soak) => samples.flatMap((sample) => (name in sample ? [sample[name] ?? 0] : []));
  const most = Math.max(...soaks.flatMap(valuesOf), 1);
  const lines = soaks.map((soak) => {
    const values = valuesOf(soak);
    const point = (value: number, n: number) =>
      `${((n / Math.max(1, values.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - (value / most) * HEIGHT).toFixed(1)}`;
    const colour = soak.hasRedis ? COLOURS.with : COLOURS.without;
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${values.map(point).join(' ')}"/>`;
  });
  const frame = `<path d="M0 0V${HEIGHT}H${WIDTH}" fill="none" stroke="#8c959f"/>`;
  return `<text y="-6">${name}, at most ${most >= 100 ? most.toFixed(0) : most.toFixed(1)}</text>${frame}${lines.join('')}`;
}
