/** `lockstep settings …`: checks and prints the settings, and prints their JSON Schema. */
import { stringify } from 'yaml';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { readPresets } from '../../csv/presets.ts';
import type { CheckedSync, ContactsSync } from '../../operator/check-mapping.ts';
import { warningsOf } from '../../operator/settings-check.ts';
import { maskSettings } from '../../settings/mask.ts';
import { renderJsonSchema, settingsJsonSchema } from '../../settings/schema.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, FAILED, type Failure } from '../errors.ts';
import type { Perform, Session } from '../session.ts';

export function define(settings: Command, perform: Perform): void {
  settings.description(
    'Checks and shows the settings: --config FILE, otherwise config/lockstep.yaml. Secrets are never shown.',
  );
  settings
    .command('check')
    .summary('list all problems of the settings')
    .description(
      'Lists all problems at once, each with file, line and column, and exits with 2 if there are any. Also warns about ' +
        'settings that work but may be a mistake, such as a secret that is written in the file or cannot be read. Your own ' +
        'presets are checked too. For each sync of contacts, --live also shows the customers that `map` makes of the first ten ' +
        'contacts that `where` selects, among up to 500 contacts; it exits with 1 if any of the ten has a problem, and with 3 if ' +
        'contacts could not be read.',
    )
    .option('--live', 'test the mapping of each sync of contacts with ten contacts of its service')
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
  settings
    .command('hash-password')
    .summary('show the hash of a password for the console')
    .description(
      'Shows the hash of a password (scrypt), for console.password and console.users in the settings. The hash does not ' +
        'reveal the password.',
    )
    .requiredOption('--env <name>', 'environment variable that holds the password')
    .addHelpText(
      'after',
      `\nExample:\n  $ read -rs PASSWORD && export PASSWORD\n  $ lockstep settings hash-password --env PASSWORD`,
    )
    .action(perform(hash));
}

async function check(session: Session, { live = false }: { readonly live?: boolean }): Promise<ExitCode> {
  const { out, env } = session;
  session.showsWarnings();
  const settings = await session.settings();
  await readPresets(settings.presets); // throws what is wrong with one
  const warnings = await warningsOf(settings, env);
  const { accounts, syncs, targets, alerts, file } = settings;
  const names = {
    accounts: Object.keys(accounts),
    syncs: Object.keys(syncs),
    targets: Object.keys(targets),
    alerts: Object.keys(alerts),
  };
  const counted = Object.entries(names).map(([kind, { length }]) =>
    kind === 'alerts' ? `${plural(length, 'channel')} for alerts` : plural(length, kind.slice(0, -1)),
  );
  out.say(`${file} has no problems: ${counted.join(', ')}.`);
  out.say(...warnings.map((warning) => `Warning: ${warning}`));
  const checked = live ? await checkLive(session, settings) : [];
  out.result({ file, valid: true, warnings, ...names, ...(live && { live: checked }) });
  if (checked.some((one) => 'error' in one)) return FAILED;
  const hasProblems = checked.some(
    (one) => 'contacts' in one && one.contacts.some(({ problems }) => problems.length > 0),
  );
  return hasProblems ? DONE_WITH_PROBLEMS : DONE;
}

interface UncheckedSync extends Pick<CheckedSync, 'sync' | 'account'> {
  readonly error: Pick<Failure, 'code' | 'message'>;
}

async function checkLive(session: Session, { syncs }: Settings): Promise<readonly (CheckedSync | UncheckedSync)[]> {
  const { out } = session;
  const ours = Object.values(syncs).filter((sync): sync is ContactsSync => sync.type === 'contacts');
  if (ours.length === 0) {
    out.say('No sync of contacts is configured, so there is no mapping to test.');
    return [];
  }
  const signal = session.untilStopped('Waiting for the answer. Press Ctrl-C again to stop at once.');
  const { accounts } = await session.openWorkspace();
  const { checkMapping, checkedLines } = await import('../../operator/check-mapping.ts');
  const checked: (CheckedSync | UncheckedSync)[] = [];
  for (const sync of ours) {
    try {
      const one = await checkMapping(sync, await accounts.inspect(sync.account), { signal });
      out.say(...checkedLines(one));
      checked.push(one);
    } catch (error) {
      if (!(error instanceof LockstepError) || signal.aborted) throw error;
      const { code, message } = error;
      out.complain(`${sync.name}: ${message}`);
      checked.push({ sync: sync.name, account: sync.account, error: { code, message } });
    }
  }
  return checked;
}

async function print(session: Session): Promise<void> {
  const { out } = session;
  const masked = maskSettings(await session.settings());
  out.say(stringify(masked, { lineWidth: 120 }).trimEnd());
  out.result(masked);
}

async function schema({ out }: Session): Promise<void> {
  out.say(renderJsonSchema().trimEnd());
  out.result(settingsJsonSchema());
}

async function hash({ out, env }: Session, { env: name }: { env: string }): Promise<void> {
  const { hashPassword } = await import('../../console/access/passwords.ts');
  const hashed = await hashPassword(await readSecret({ from: 'env', name, where: '--env' }, env));
  out.say(hashed);
  out.result({ hash: hashed });
}
