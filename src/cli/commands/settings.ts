/** `lockstep settings …`: checks and prints the settings, and prints their JSON Schema. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { readPresets } from '../../csv/presets.ts';
import { isSecretRef, type SecretRef } from '../../settings/fields.ts';
import { maskSettings } from '../../settings/mask.ts';
import { renderJsonSchema, settingsJsonSchema } from '../../settings/schema.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import { type SharedAccounts, sharedAccounts } from '../../settings/shared-accounts.ts';
import type { Perform, Session } from '../session.ts';
import { plural } from '../words.ts';

export function define(settings: Command, perform: Perform): void {
  settings.description(
    'Checks and shows the settings: --config FILE, otherwise config/lockstep.yaml. Secrets are never shown.',
  );
  settings
    .command('check')
    .summary('list all problems of the settings')
    .description(
      'Lists all problems at once, each with file, line and column, and exits with 2 if there are any. Also warns about ' +
        'settings that work but may be a mistake, such as a secret that is written in the file or cannot be read. The presets ' +
        'of your own are checked too.',
    )
    .action(perform(check));
  settings
    .command('print')
    .summary('show the settings in effect')
    .description('Shows the settings in effect as YAML, or as JSON with --json: defaults filled in, secrets masked.')
    .action(perform(print));
  settings
    .command('schema')
    .summary('show the JSON Schema of the settings file')
    .description('Shows the JSON Schema of the settings file, for editors and other tools.')
    .action(perform(schema));
}

async function check({ out, env, settings: read }: Session): Promise<void> {
  const settings = await read();
  await readPresets(settings.presets); // throws what is wrong with one
  const warnings = [
    ...settings.warnings,
    ...(await unreadableSecrets(settings, env)),
    ...sharedWarnings(await sharedAccounts(settings, env)),
  ];
  const { accounts, syncs, targets, file } = settings;
  const names = { accounts: Object.keys(accounts), syncs: Object.keys(syncs), targets: Object.keys(targets) };
  const counted = Object.entries(names).map(([kind, { length }]) => plural(length, kind.slice(0, -1)));
  out.say(`${file} has no problems: ${counted.join(', ')}.`);
  out.say(...warnings.map((warning) => `Warning: ${warning}`));
  out.result({ file, valid: true, warnings, ...names });
}

/** Unreadable secrets are only warnings: they may be meant for another machine. */
async function unreadableSecrets(settings: Settings, env: Session['env']): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const secret of secretsIn(settings)) {
    await readSecret(secret, env).catch((error: unknown) => problems.push(messageOf(error)));
  }
  return problems;
}

function sharedWarnings({ same, sameKey }: SharedAccounts): readonly string[] {
  return [
    ...same.map(
      (names) =>
        `accounts ${names.join(' and ')} have the same address and key, so they are one tenant: they share links, runs and ` +
        'budget, and the strictest of their budgets applies to all of them',
    ),
    ...sameKey.map(
      (names) =>
        `accounts ${names.join(' and ')} have the same key at different addresses: if that is one service, give them one address`,
    ),
  ];
}

function secretsIn({ accounts, targets }: Settings): readonly SecretRef[] {
  const ofAccounts = Object.values(accounts).flatMap(({ apiKey, authorization }) => [apiKey, authorization?.token]);
  const ofTargets = Object.values(targets).flatMap((target) => Object.values(target).filter(isSecretRef));
  return [...ofAccounts, ...ofTargets].filter((ref) => ref !== undefined);
}

async function print({ out, settings }: Session): Promise<void> {
  const masked = maskSettings(await settings({ orDefault: true }));
  out.say(stringify(masked, { lineWidth: 120 }).trimEnd());
  out.result(masked);
}

async function schema({ out }: Session): Promise<void> {
  out.say(renderJsonSchema().trimEnd());
  out.result(settingsJsonSchema());
}
