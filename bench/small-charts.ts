/** Small charts as SVG, three in a row: the same series in each of them, from zero to the chart's highest value. */

export interface Picture {
  readonly title: string;
  /** What the colours mean is written after it. */
  readonly heading: string;
  readonly series: readonly string[];
  readonly charts: readonly Chart[];
}

export interface Chart {
  readonly name: string;
  /** Of each series that the chart has: values at equal distances. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
}

const [WIDTH, HEIGHT] = [260, 110];
const [MARGIN, TITLE, HEADING, COLUMNS] = [16, 24, 32, 3];
const COLOURS = ['#1f6feb', '#bf3989', '#1a7f37'];

export function svgOf({ title, heading, series, charts }: Picture): string {
  const rows = Math.ceil(charts.length / COLUMNS);
  const [width, height] = [COLUMNS * (WIDTH + MARGIN) + MARGIN, HEADING + rows * (TITLE + HEIGHT + MARGIN)];
  const placed = charts.map((chart, n) => {
    const x = MARGIN + (n % COLUMNS) * (WIDTH + MARGIN);
    const y = HEADING + TITLE + Math.floor(n / COLUMNS) * (TITLE + HEIGHT + MARGIN);
    return `<g transform="translate(${x} ${y})">${drawn(chart, series)}</g>`;
  });
  const legend = series.map((name, n) => `<tspan fill="${COLOURS[n]}">${name}</tspan>`).join(', ');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${MARGIN}" y="20" font-weight="600">${heading}: ${legend}</text>
${placed.join('\n')}
</svg>
`;
}

function drawn({ name, lines }: Chart, series: readonly string[]): string {
  const most = Math.max(...Object.values(lines).flat()) || 1;
  const polylines = series.map((one, at) => {
    const values = lines[one] ?? [];
    const point = (value: number, n: number) =>
      `${((n / Math.max(1, values.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - (value / most) * HEIGHT).toFixed(1)}`;
    return `<polyline fill="none" stroke="${COLOURS[at]}" stroke-width="1.5" points="${values.map(point).join(' ')}"/>`;
  });
  const frame = `<path d="M0 0V${HEIGHT}H${WIDTH}" fill="none" stroke="#8c959f"/>`;
  return `<text y="-6">${name}, at most ${most >= 100 ? most.toFixed(0) : most.toPrecision(2)}</text>${frame}${polylines.join('')}`;
}
