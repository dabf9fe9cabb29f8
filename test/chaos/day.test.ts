/**
 * A day at random on real processes.
 *   npm run chaos -- --seed 7 --minutes 5
 */
import { expect, test } from 'vitest';
import { liveThrough } from './day.ts';

const seed = Number(process.env.SEED ?? 1);
const minutes = Number(process.env.MINUTES ?? 1);

test(
  `a day of ${minutes} minutes with the seed ${seed} loses nothing and doubles nothing`,
  async () => {
    const { summary, problems } = await liveThrough(seed, minutes);
    process.stdout.write(`seed ${seed}: ${JSON.stringify(summary)}\n`);
    expect(problems).toEqual([]);
  },
  (minutes + 20) * 60_000,
);
