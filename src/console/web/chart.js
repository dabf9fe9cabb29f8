// Draws each table of figures over time as a chart, and folds the table. Without it, the table is shown.
const COLOURS = ['--accent', '--line-strong', '--review', '--rejected'];
const HEIGHT = 220;
/** Hours and minutes, with the day below the first of each day; where ticks are days apart only the day, and where they are seconds apart the seconds too. */
const TIMES = [
  [86_400, '{MM}-{DD}', null, null, null, null, null, null, 1],
  [60, '{HH}:{mm}', '\n{MM}-{DD}', null, '\n{MM}-{DD}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1],
];

/** Seconds between ticks: at least one. */
const STEPS = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400];

const shown = new Set();
let isTableOpen = false;

const fromZero = (_plot, _least, most) => [0, most || 1];
const figureIn = (cell) => ('value' in cell.dataset ? Number(cell.dataset.value) : null);

function figuresOf(table) {
  const rows = [...table.tBodies[0].rows];
  const times = rows.map((row) => Date.parse(row.querySelector('time').dateTime) / 1000);
  const columns = [...table.tHead.rows[0].cells].slice(1).map((cell, i) => {
    const title = cell.textContent.trim();
    return {
      title,
      colour: COLOURS[i],
      isRate: title.endsWith('a second'),
      values: rows.map((row) => figureIn(row.cells[i + 1])),
    };
  });
  // A line of zeros would hide the others.
  return { times, columns: columns.filter(({ isRate, values }) => isRate || values.some((value) => value > 0)) };
}

function draw(details) {
  const { times, columns } = figuresOf(details.querySelector('table'));
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
  const room = document.createElement('div');
  details.before(room);
  const size = () => ({ width: room.clientWidth, height: HEIGHT });
  const plot = new uPlot(
    {
      ...size(),
      // Rates are on the left, counts on the right.
      series: [
        { value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' },
        ...columns.map(({ title: label, colour: name, isRate }) => ({
          label,
          stroke: colour(name),
          width: 2,
          scale: isRate ? 'rate' : 'count',
          ...(label.startsWith('Allowed') && { dash: [6, 4], spanGaps: true }),
          points: { show: false },
        })),
      ],
      scales: { rate: { range: fromZero }, count: { range: (_plot, _least, most) => [0, Math.max(most, 1)] } },
      axes: [
        { ...axis, values: TIMES, incrs: STEPS, space: 80 },
        { ...axis, scale: 'rate', label: 'a second', labelSize: 20 },
        ...(columns.every(({ isRate }) => isRate)
          ? []
          : [{ ...axis, scale: 'count', side: 1, label: 'calls', labelSize: 20, grid: { show: false } }]),
      ],
    },
    [times, ...columns.map(({ values }) => values)],
    room,
  );
  const resized = new ResizeObserver(() => plot.setSize(size()));
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
  for (const details of document.querySelectorAll('details.plotted:not([data-drawn])')) {
    details.dataset.drawn = 'yes';
    draw(details);
  }
}

drawAll();
document.body.addEventListener('htmx:load', drawAll);
