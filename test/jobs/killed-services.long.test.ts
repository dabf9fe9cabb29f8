/** Services drawn by seed whose runs are worked on by processes that are killed; `npm run worlds -- --kills` draws many more. */
import { expect, test } from 'vitest';
import { drawService } from '../support/drawn-service.ts';
import { checkServices, type Step } from '../support/random-check.ts';

const SEEDS: readonly (readonly [seed: number, step: Step])[] = [
  [9129, 'orders'],
  [9153, 'contacts'],
  [9124, 'orders'],
];

test('nothing is lost, doubled or overwritten where processes are killed at random calls', async () => {
  const wanted = SEEDS.map(([seed, step]) => ({ drawn: drawService(seed), steps: [step] }));
  const checked = await checkServices(wanted, { isKilled: true });
  expect(checked.map(({ status, why }) => [status, ...why])).toEqual(SEEDS.map(() => ['handled']));
}, 300_000);
