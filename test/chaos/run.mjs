/**
 * `npm run chaos -- --seed N --minutes M`: one day at random (day.test.ts).
 * `npm run worlds -- --seeds A..B`: services drawn by these seeds (worlds.test.ts).
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1..60' },
  },
});
const vitest = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'vitest.chaos.config.ts',
  `chaos/${positionals[0]}`,
];
const env = { ...process.env, SEED: values.seed, MINUTES: values.minutes, SEEDS: values.seeds };
process.exit(spawnSync(process.execPath, vitest, { stdio: 'inherit', env }).status ?? 1);
