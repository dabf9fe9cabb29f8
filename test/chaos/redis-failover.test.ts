/** Days on which the master of a Sentinel is killed again and again, with writes that its replica does not have. */
import { expect, test } from 'vitest';
import { liveThrough } from './day.ts';

const seeds = (process.env.SEEDS ?? '1').split(',').map(Number);
const minutes = Number(process.env.MINUTES ?? 2);

test.each(seeds)(
  'failovers of Redis lose nothing and double nothing: seed %d',
  async (seed) => {
    const { summary, problems } = await liveThrough(seed, minutes, { failsOver: true });
    process.stdout.write(`seed ${seed}: ${JSON.stringify(summary)}\n`);
    expect(problems).toEqual([]);
    expect(summary['Redis fails over']).toBeGreaterThan(0);
  },
  (minutes + 20) * 60_000,
);
