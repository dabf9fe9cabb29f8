/** The long random runs: `npm run chaos`, `npm run soak` and `npm run worlds`, each with `-- --help`. */
import { Command, Option } from 'commander';
import { HABITS } from '../support/habits.ts';
import { numberOption, runVitest, seedsOption } from '../support/vitest-program.ts';

type Given = Readonly<Partial<Record<string, string>>>;
const CONFIG = ['--config', 'vitest.chaos.config.ts'];

const chaos = new Command('chaos')
  .description('One day at random (day.test.ts). As root on Linux, the data directory is a small disk that fills up.')
  .option('--seed <n>', 'the same seed draws the same day', numberOption, '1')
  .option('--minutes <n>', 'length of the day', numberOption, '1')
  .option('--workers <n>', 'processes', numberOption, '2')
  .option('--too-late', 'the service commits later than settle: each doubled record has to be reported')
  .action(({ seed, minutes, workers, tooLate }: Given) => {
    const hasMounts = process.platform === 'linux' && process.getuid?.() === 0;
    runVitest(
      [...CONFIG, 'chaos/day'],
      {
        SEED: seed,
        MINUTES: minutes,
        WORKERS: workers,
        TOO_LATE: tooLate && '1',
        OWN_MOUNTS: hasMounts ? '1' : undefined,
      },
      hasMounts ? ['unshare', '--mount'] : [],
    );
  });

const soak = new Command('soak')
  .description('All types of jobs at once, without and with a Redis (soak.test.ts).')
  .option('--minutes <n>', 'length of the runs', numberOption, '1')
  .option('--picture <file>', 'writes the curves as SVG')
  .action(({ minutes, picture }: Given) => {
    runVitest([...CONFIG, 'chaos/soak'], { MINUTES: minutes, PICTURE: picture });
  });

const habit = new Option('--habit <name>', 'a habit of test/support/habits.ts for each service; each: all in turn');
const worlds = new Command('worlds')
  .description('Services drawn by seeds (worlds.test.ts).')
  .option('--seeds <range>', 'which services', seedsOption, '1..60')
  .addOption(habit.choices(['none', 'each', ...HABITS]).default('none'))
  .option('--kills', 'one or two processes work on the runs, and are killed at random calls')
  .action(({ seeds, habit, kills }: Given) => {
    runVitest([...CONFIG, 'chaos/worlds'], { SEEDS: seeds, HABIT: habit, KILLS: kills && '1' });
  });

const program = new Command('npm run');
for (const command of [chaos, soak, worlds]) program.addCommand(command.usage('-- [options]'));
program.parse();
