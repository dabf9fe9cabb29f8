/** `npm run fuzz -- --seed N --minutes M [--part NAME]`: M minutes for each part, which are the tests beside this file. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    part: { type: 'string', default: '' },
  },
});
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--no-file-parallelism'];
// A part that collects what it reads runs out of memory.
const env = {
  ...process.env,
  FUZZ_SEED: values.seed,
  FUZZ_MINUTES: values.minutes,
  NODE_OPTIONS: '--max-old-space-size=512',
};
const { status } = spawnSync(process.execPath, [...vitest, `test/fuzz/${values.part}`], { stdio: 'inherit', env });
process.exit(status ?? 1);
