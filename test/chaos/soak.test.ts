/**
 * All types of jobs at once, for a long time: does anything grow?
 *   npm run soak -- --minutes 120 --picture docs/soak.svg
 */
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runSoak } from './soak.ts';
import { curvesOf } from './soak-curves.ts';
import { pictureOf } from './soak-picture.ts';

const minutes = Number(process.env.MINUTES ?? 1);
const { PICTURE: picture } = process.env;
/** Before that, processes still warm up. */
const JUDGED_MINUTES = 30;

test(
  `after ${minutes} minutes of all types of jobs, without and with a Redis, nothing has grown, is lost or doubled`,
  async () => {
    const soaks = await Promise.all([false, true].map((hasRedis) => runSoak(minutes, hasRedis)));
    for (const { summary, problems, samples } of soaks) {
      const curves = curvesOf(samples);
      process.stdout.write(`${JSON.stringify({ ...summary, problems, curves })}\n`);
    }
    if (picture !== undefined) await writeFile(picture, pictureOf(soaks));
    expect(soaks.flatMap(({ problems }) => problems)).toEqual([]);
    const grown = soaks.flatMap(({ samples }) => curvesOf(samples).filter(({ hasGrown }) => hasGrown));
    if (minutes >= JUDGED_MINUTES) expect(grown).toEqual([]);
  },
  (minutes + 20) * 60_000,
);

test('a curve that grows until the end is found, and one that only warms up is not', () => {
  const samples = Array.from({ length: 120 }, (_, n) => ({
    'leak in MB': 100 + n,
    'warm in MB': Math.min(100 + 4 * n, 200),
  }));
  expect(curvesOf(samples).map(({ hasGrown }) => hasGrown)).toEqual([true, false]);
});
