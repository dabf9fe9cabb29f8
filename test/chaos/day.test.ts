/**
 * A day at random on real processes.
 *   npm run chaos -- --seed 7 --minutes 5
 */
import { expect, test } from 'vitest';
import { liveThrough } from './day.ts';

const seed = Number(process.env.SEED ?? 1);
const minutes = Number(process.env.MINUTES ?? 1);
const workers = Number(process.env.WORKERS ?? 2);
const isTooLate = process.env.TOO_LATE !== undefined;

test(
  `a day of ${minutes} minutes with the seed ${seed} loses nothing, and doubles nothing ${isTooLate ? 'that it does not report' : ''}`,
  async () => {
    const { summary, problems } = await liveThrough(seed, minutes, { workers, isTooLate });
    process.stdout.write(`seed ${seed}: ${JSON.stringify(summary)}\n`);
    expect(problems).toEqual([]);
  },
  (minutes + 20) * 60_000,
);
