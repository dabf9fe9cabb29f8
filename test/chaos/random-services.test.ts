/**
 * Services drawn by seed: SEEDS of them (default 60), starting at seed FROM (default 1).
 *   npm run test:chaos -- random-services
 */
import { expect, test } from 'vitest';
import { drawService, REFUSABLE } from '../support/drawn-service.ts';
import { type Checked, checkServices } from '../support/random-check.ts';

const from = Number(process.env.FROM ?? 1);
const count = Number(process.env.SEEDS ?? 60);

test(
  `${count} services drawn by seed are never read wrong`,
  async () => {
    const checked = await checkServices(Array.from({ length: count }, (_, i) => ({ drawn: drawService(from + i) })));
    process.stdout.write(`${report(checked)}\n`);
    expect(checked.filter(({ status }) => status === 'wrong')).toEqual([]);
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
