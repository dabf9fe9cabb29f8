// Draws each table of figures over time as a chart, and folds the table. Without it, the table is shown.
const colours = ['--accent', '--line-strong', '--review', '--rejected'];
const shown = new Set();
let isTableOpen = false;

const valueOf = (cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : null);

function figuresOf(table) {
  const rows = [...table.tBodies[0].rows];
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const times = rows.map((row) => Date.parse(row.querySelector('time').dateTime) / 1000);
  return { titles, values: [times, ...titles.slice(1).map((_, i) => rows.map((row) => valueOf(row.cells[i + 1])))] };
}

function draw(details) {
  const { titles, values } = figuresOf(details.querySelector('table'));
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  // Rates on the left; counts on the right.
  const series = titles.slice(1).map((label, i) => ({
    label,
    stroke: colour(colours[i]),
    width: 2,
    scale: i < 2 ? 'rate' : 'count',
    dash: i === 1 ? [6, 4] : undefined,
    spanGaps: i === 1,
    points: { show: false },
  }));
  const room = document.createElement('div');
  details.before(room);
  const width = () => room.clientWidth;
  const plot = new uPlot(
    {
      width: width(),
      height: 220,
      series: [{ value: '{YYYY}-{MM}-{DD} {HH}:{mm}' }, ...series],
      scales: { rate: { range: (_, __, most) => [0, most || 1] }, count: { range: (_, __, most) => [0, most || 1] } },
      axes: [
        { ...axis, values: [[86400, '{MM}-{DD}'], [60, '{HH}:{mm}', '\n{MM}-{DD}']].map(([s, ...rest]) => [s, ...rest]) },
        { ...axis, scale: 'rate', label: 'a second', labelSize: 20 },
        { ...axis, scale: 'count', side: 1, grid: { show: false } },
      ],
    },
    values,
    room,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: width(), height: 220 }));
  resized.observe(room);
  shown.add({ room, plot, resized });
  details.open = isTableOpen;
  details.addEventListener('toggle', () => {
    isTableOpen = details.open;
  });
}

function drawAll() {
  for (const one of shown) {
    if (one.room.isConnected) continue;
    one.resized.disconnect();
    one.plot.destroy();
    shown.delete(one);
  }
  for (const details of document.querySelectorAll('details.plotted')) {
    if (!details.dataset.drawn) draw(details);
    details.dataset.drawn = 'yes';
  }
}

drawAll();
document.body.addEventListener('htmx:afterSwap', drawAll);
