/** `npm run fuzz`: random input, for minutes, for each part, which are the tests beside this file. */
import fs from 'node:fs';
import { Command, Option } from 'commander';
import { numberOption, runVitest } from '../support/vitest-program.ts';

const ENDING = '.test.ts';
const parts = fs
  .readdirSync(import.meta.dirname)
  .flatMap((file) => (file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : []));

new Command('npm run fuzz')
  .usage('-- [options]')
  .option('--seed <n>', 'the same seed draws the same input', numberOption, '1')
  .option('--minutes <n>', 'time for each part', numberOption, '1')
  .addOption(new Option('--part <name>', 'only this part').choices(parts))
  .action(({ seed, minutes, part }: Readonly<Partial<Record<string, string>>>) => {
    const file = part === undefined ? '' : `${part}${ENDING}`;
    // A part that collects what it reads runs out of memory.
    const options = { FUZZ_SEED: seed, FUZZ_MINUTES: minutes, NODE_OPTIONS: '--max-old-space-size=512' };
    runVitest(['--no-file-parallelism', `test/fuzz/${file}`], options);
  })
  .parse();
