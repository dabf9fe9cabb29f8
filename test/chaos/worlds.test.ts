/** Services drawn by the seeds SEEDS: npm run worlds -- --seeds 1..200 */
import { expect, test } from 'vitest';
import { drawService, REFUSABLE } from '../support/drawn-service.ts';
import { type Checked, checkServices } from '../support/random-check.ts';

const { SEEDS = '1..60' } = process.env;
const [from = 1, to = from] = SEEDS.split('..').map(Number);
const count = to - from + 1;
/** Share of the services that a careful person could read and that may be refused. */
const MOST_REFUSED = 0.05;

test(
  `${count} services drawn by seed are never read wrong, and few that can be read are refused`,
  async () => {
    const checked = await checkServices(Array.from({ length: count }, (_, i) => ({ drawn: drawService(from + i) })));
    process.stdout.write(`${report(checked)}\n`);
    expect(checked.filter(({ status }) => status === 'wrong')).toEqual([]);
    const readable = checked.filter(({ drawn }) => !REFUSABLE.has(drawn.oddity));
    const refused = readable.filter(({ status }) => status === 'refused');
    expect(refused.length).toBeLessThanOrEqual(readable.length * MOST_REFUSED);
  },
  count * 60_000,
);

function report(checked: readonly Checked[]): string {
  const of = (status: Checked['status']) => checked.filter((one) => one.status === status);
  const lines = [...of('wrong'), ...of('refused')].map(
    ({ drawn, status, why }) => `seed ${drawn.seed} (${drawn.oddity}) ${status}\n  ${why.join('\n  ')}`,
  );
  const [handled, refused, wrong] = [of('handled').length, of('refused'), of('wrong').length];
  const rightly = refused.filter(({ drawn }) => REFUSABLE.has(drawn.oddity)).length;
  const counts = `${handled} handled, ${refused.length} refused (${rightly} of them odd services), ${wrong} wrong`;
  return [...lines, `${checked.length} services: ${counts}`].join('\n');
}
