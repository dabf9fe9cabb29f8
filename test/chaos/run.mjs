/** `npm run chaos -- --seed N --minutes M`: one day at random (day.test.ts). */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, minutes: { type: 'string', default: '1' } },
});
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.chaos.config.ts', 'chaos/day'];
const env = { ...process.env, SEED: values.seed, MINUTES: values.minutes };
process.exit(spawnSync(process.execPath, vitest, { stdio: 'inherit', env }).status ?? 1);
