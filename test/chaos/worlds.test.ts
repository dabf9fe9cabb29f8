/** Services drawn by the seeds SEEDS: npm run worlds -- --seeds 1..200. With KILLS the processes that work on their runs are killed. */
import { expect, test } from 'vitest';
import { isRefusable, withHabit } from '../support/drawn-habit.ts';
import { drawService } from '../support/drawn-service.ts';
import { type Checked, checkServices } from '../support/random-check.ts';

const { SEEDS = '1..60', HABIT, KILLS } = process.env;
const [from = 1, to = from] = SEEDS.split('..').map(Number);
const count = to - from + 1;
/** Longer than a run of the last service that does not end. */
const LAST_MS = 300_000;
/** Share of the services that a careful person could read and that may be refused. */
const MOST_REFUSED = 0.05;

test(
  `${count} services drawn by seed are never read wrong, and few that can be read are refused`,
  async () => {
    const drawn = Array.from({ length: count }, (_, i) => ({ drawn: withHabit(drawService(from + i), HABIT) }));
    const checked = await checkServices(drawn, { onChecked: report, isKilled: KILLS !== undefined });
    process.stdout.write(`${summary(checked)}\n`);
    expect(checked.filter(({ status }) => status === 'wrong')).toEqual([]);
    const readable = checked.filter((one) => !isRefusable(one.drawn));
    const refused = readable.filter(({ status }) => status === 'refused');
    expect(refused.length).toBeLessThanOrEqual(readable.length * MOST_REFUSED);
  },
  count * 60_000 + LAST_MS,
);

function report({ drawn, status, why }: Checked): void {
  if (status === 'handled') return;
  const may = isRefusable(drawn) ? 'may be refused' : 'can be read';
  process.stdout.write(
    `seed ${drawn.seed} (${drawn.oddity}, ${drawn.habit}; ${may}) ${status}\n  ${why.join('\n  ')}\n`,
  );
}

function summary(checked: readonly Checked[]): string {
  const of = (status: Checked['status']) => checked.filter((one) => one.status === status);
  const refused = of('refused');
  const rightly = refused.filter(({ drawn }) => isRefusable(drawn)).length;
  const counts = `${of('handled').length} handled, ${refused.length} refused (${rightly} of them odd services), ${of('wrong').length} wrong`;
  return `${checked.length} services: ${counts}`;
}
