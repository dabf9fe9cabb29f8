import { type Environment, parseSettings } from '../../src/settings/parse.ts';
import { formatProblems } from '../../src/settings/problems.ts';
import type { Settings } from '../../src/settings/settings.ts';

/** The problems of a settings text, one line each, without the file's name: `2:3 accounts.demo.x: unknown key`. */
export function problemsIn(text: string, env: Environment = {}): string[] {
  const parsed = parseSettings({ text, file: '/etc/lockstep.yaml', env });
  if (parsed.status === 'valid') return [];
  return formatProblems('', parsed.problems)
    .split('\n')
    .map((line) => line.replace(/^:/, ''));
}

/** The settings of a text that is expected to be valid. */
export function settingsOf(text: string, env: Environment = {}): Settings {
  const parsed = parseSettings({ text, file: '/etc/lockstep.yaml', env });
  if (parsed.status === 'valid') return parsed.settings;
  throw new Error(formatProblems('settings', parsed.problems));
}

/** Settings with one account, sync or target that has this line. */
export const withAccount = (line: string) => `accounts:\n  demo:\n    ${line}\n`;
export const withSync = (line: string) =>
  `accounts: { demo: {} }\nsyncs:\n  night: { job: contacts, account: demo, ${line} }\n`;
export const withTarget = (line: string) => `accounts: { demo: {} }\ntargets:\n  hook: { type: webhook, ${line} }\n`;
