/** The programs that run tests with options: chaos/run.ts and fuzz/run.ts. */
import { spawnSync } from 'node:child_process';
import { InvalidArgumentError } from 'commander';

export const numberOption = optionLike(/^\d+(\.\d+)?$/, 'Give a number.');
export const seedsOption = optionLike(/^\d+(\.\.\d+)?$/, 'Give a seed or a range of seeds, such as 1..60.');

function optionLike(form: RegExp, remedy: string): (text: string) => string {
  return (text) => {
    if (!form.test(text)) throw new InvalidArgumentError(remedy);
    return text;
  };
}

/** Runs Vitest, with the options that are given as environment variables, and ends with its exit code. `under`: the program that starts it. */
export function runVitest(
  args: readonly string[],
  options: Readonly<Record<string, string | undefined>>,
  under: readonly string[] = [],
): never {
  const [file = '', ...all] = [...under, process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...args];
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  process.exit(spawnSync(file, all, { stdio: 'inherit', env: { ...process.env, ...given } }).status ?? 1);
}
