/**
 * `npm run chaos -- --seed N --minutes M [--workers W] [--too-late]`: one day at random (day.test.ts). `--too-late`: the service commits
 * later than `settle`, and each record that is doubled has to be reported. As root on Linux the data directory is a small disk that fills up.
 * `npm run soak -- --minutes M [--picture FILE]`: all types of jobs at once, without and with a Redis (soak.test.ts).
 * `npm run worlds -- --seeds A..B [--habit NAME] [--kills]`: services drawn by these seeds (worlds.test.ts). `--habit` gives each of them a habit of
 * test/support/habits.ts; `--habit each` goes through them by seed. `--kills`: processes work on the runs, one or two at a time, and are
 * killed at random calls.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '1' },
    picture: { type: 'string' },
    workers: { type: 'string', default: '2' },
    'too-late': { type: 'boolean', default: false },
    seeds: { type: 'string', default: '1..60' },
    habit: { type: 'string', default: 'none' },
    kills: { type: 'boolean', default: false },
  },
});
const [what] = positionals;
const vitest = [
  process.execPath,
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'vitest.chaos.config.ts',
  `chaos/${what}`,
];
const hasMounts = what === 'day' && process.platform === 'linux' && process.getuid?.() === 0;
const [program = '', ...args] = hasMounts ? ['unshare', '--mount', ...vitest] : vitest;
const env = {
  ...process.env,
  SEED: values.seed,
  MINUTES: values.minutes,
  WORKERS: values.workers,
  SEEDS: values.seeds,
  HABIT: values.habit,
  ...(values.kills && { KILLS: '1' }),
  ...(values.picture !== undefined && { PICTURE: values.picture }),
  ...(values['too-late'] && { TOO_LATE: '1' }),
  ...(hasMounts && { OWN_MOUNTS: '1' }),
};
process.exit(spawnSync(program, args, { stdio: 'inherit', env }).status ?? 1);
