/** Finds and reads the settings file. */
import { constants } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, LockstepError, messageOf, wrongUse } from '../base/errors.ts';
import { makeChosenDirectory } from '../base/make-directory.ts';
import { type Environment, parseSettings } from './parse.ts';
import { formatProblems } from './problems.ts';
import type { Settings } from './settings.ts';

const LOCAL_FILE = join('config', 'lockstep.yaml');
/** Editors find it beside the settings file. */
const SCHEMA_FILE = 'lockstep.schema.json';

/** A longer file is probably a mistake, such as `--config customers.csv`. */
const MAX_BYTES = 1024 * 1024;

export interface LoadOptions {
  /** As the user named it, relative to `cwd`; undefined: ./config/lockstep.yaml. */
  readonly configFile?: string | undefined;
  /** If there is no ./config/lockstep.yaml, the file that comes with Lockstep is read: everything embedded. */
  readonly orDefault?: boolean;
  readonly env: Environment;
  readonly cwd: string;
}

/**
 * The settings, checked. Secrets are not read yet.
 * Throws SETTINGS_MISSING if there is no readable file, and SETTINGS_INVALID with a list of all problems; both exit code 2.
 */
export async function loadSettings({ configFile, orDefault = false, env, cwd }: LoadOptions): Promise<Settings> {
  return settingsIn(await readSettingsFile(configFile, cwd, orDefault), { env, cwd });
}

export interface SettingsText {
  /** Absolute path. */
  readonly file: string;
  readonly text: string;
}

/** The settings in a text, checked. Throws SETTINGS_INVALID with a list of all problems. */
export function settingsIn({ file, text }: SettingsText, { env, cwd }: Pick<LoadOptions, 'env' | 'cwd'>): Settings {
  const parsed = parseSettings({ text, file, env });
  if (parsed.status === 'valid') return parsed.settings;
  const shown = shorter(file, cwd);
  const count = parsed.problems.length === 1 ? 'one problem' : `${parsed.problems.length} problems`;
  const list = formatProblems(shown, parsed.problems).replaceAll(/^/gm, '  ');
  throw wrongUse(`The settings have ${count}:\n${list}`, 'SETTINGS_INVALID');
}

/**
 * Creates the settings file where it is missing, as a copy of the one that comes with Lockstep; returns its path if it was
 * created.
 */
export async function initSettings({ configFile, cwd }: Pick<LoadOptions, 'configFile' | 'cwd'>) {
  const file = resolve(cwd, configFile ?? LOCAL_FILE);
  await makeChosenDirectory('the directory of the settings file', dirname(file));
  const copy = (from: string, to: string) =>
    copyFile(from, to, constants.COPYFILE_EXCL).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        const message = `The settings file ${to} could not be created: ${messageOf(error)}`;
        throw wrongUse(message, 'SETTINGS_NOT_SAVED', error);
      },
    );
  if (!(await copy(defaultSettingsFile(), file))) return undefined;
  await copy(join(dirname(defaultSettingsFile()), SCHEMA_FILE), join(dirname(file), SCHEMA_FILE));
  return file;
}

/** The settings file that comes with Lockstep: everything embedded, one account `demo`. */
export function defaultSettingsFile(): string {
  return fileURLToPath(new URL('../../config/lockstep.yaml', import.meta.url));
}

async function readSettingsFile(
  configFile: string | undefined,
  cwd: string,
  orDefault: boolean,
): Promise<SettingsText> {
  if (configFile !== undefined) return readSettingsText(resolve(cwd, configFile));
  try {
    return await readSettingsText(join(cwd, LOCAL_FILE));
  } catch (error) {
    const isAbsent = error instanceof LockstepError && codeOf(error.cause) === 'ENOENT';
    if (!isAbsent) throw error;
    if (orDefault) return readSettingsText(defaultSettingsFile());
    const message =
      `There is no settings file ${LOCAL_FILE} in ${cwd}. Change to the right directory, or name your file with --config. ` +
      'To start a new workspace here, add --init. To see Lockstep at work first, run lockstep demo';
    throw wrongUse(message, 'SETTINGS_MISSING', error.cause);
  }
}

/** Throws SETTINGS_MISSING if the file cannot be read, and SETTINGS_INVALID if it is no text of settings. */
export async function readSettingsText(file: string): Promise<SettingsText> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw wrongUse(explainUnreadable(file, error), 'SETTINGS_MISSING', error);
  });
  const refuse = (reason: string) => wrongUse(`The settings file ${file} ${reason}`, 'SETTINGS_INVALID');
  if (bytes.length > MAX_BYTES) throw refuse('is longer than 1 MiB: check that it is a settings file');
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    throw refuse('is not UTF-8 text: save it as UTF-8');
  }
}

function explainUnreadable(file: string, error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `No settings file at ${file}: name an existing one with --config, or create it there with --init`;
    case 'EISDIR':
      return `${file} is a directory: name the settings file in it, such as --config ${join(file, 'lockstep.yaml')}`;
    case 'EACCES':
    case 'EPERM':
      return `The settings file ${file} is not readable by this user: change its permissions or its owner`;
    default:
      return `The settings file ${file} could not be read: ${messageOf(error)}`;
  }
}

/** The path relative to `cwd`, if that is shorter. */
function shorter(file: string, cwd: string): string {
  const path = relative(cwd, file);
  return path.startsWith('..') ? file : path;
}
