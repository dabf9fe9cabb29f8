/** What may be wrong with the settings: problems of the file, and warnings about settings that work. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from '../base/errors.ts';
import { readPresets } from '../csv/presets.ts';
import { signingKey } from '../mirror/targets/calls/signature.ts';
import { type SecretRef, secretsIn } from '../settings/fields.ts';
import { readSettingsText, settingsIn } from '../settings/load.ts';
import { allOf } from '../settings/message-parts.ts';
import { readSecret } from '../settings/secrets.ts';
import type { Settings } from '../settings/settings.ts';
import { type SharedAccounts, sharedAccounts } from '../settings/shared-accounts.ts';

type Env = Parameters<typeof readSecret>[1];

export interface SettingsCheck {
  /** Why the file could not be taken now; undefined if it has no problem. */
  readonly problem: string | undefined;
  /** About the settings in effect. */
  readonly warnings: readonly string[];
}

/** Checks the settings in effect, and reads their file again. */
export async function checkSettings(settings: Settings, env: Env): Promise<SettingsCheck> {
  return { problem: await problemOf(settings, env), warnings: await warningsOf(settings, env) };
}

async function problemOf(settings: Settings, env: Env): Promise<string | undefined> {
  try {
    const { presets } = await parsedNow(settings, env);
    await readPresets(presets);
    return undefined;
  } catch (error) {
    if (error instanceof LockstepError) return error.message;
    throw error;
  }
}

/** By the settings in effect: the text of their file when it was parsed last. Parsing takes much longer than reading. */
const parsedOf = new WeakMap<
  Settings,
  { readonly text: string; readonly env: Env; readonly parsed: Promise<Settings> }
>();

/** The settings in the file as it is now. It is parsed only if its text has changed. */
async function parsedNow(inEffect: Settings, env: Env): Promise<Settings> {
  const read = await readSettingsText(inEffect.file);
  const last = parsedOf.get(inEffect);
  if (last?.text === read.text && last.env === env) return last.parsed;
  const parsed = Promise.resolve(read).then((now) => settingsIn(now, { env, cwd: process.cwd() }));
  parsedOf.set(inEffect, { text: read.text, env, parsed });
  return parsed;
}

/** Settings that work and may be a mistake. */
export async function warningsOf(settings: Settings, env: Env): Promise<readonly string[]> {
  return [
    ...settings.warnings,
    ...(await unusableSecrets(settings, env)),
    ...(await unusableFolders(settings)),
    ...sharedWarnings(await sharedAccounts(settings, env)),
  ];
}

/** Secrets that cannot be used are only warnings: they may be meant for another machine. */
async function unusableSecrets(settings: Settings, env: Env): Promise<readonly string[]> {
  const signing = new Set(signingSecretsIn(settings));
  const problems: string[] = [];
  for (const ref of secretsIn(settings)) {
    try {
      const secret = await readSecret(ref, env);
      if (signing.has(ref)) signingKey(secret, ref.where);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return problems;
}

/** Like secrets, folders may be meant for another machine. */
async function unusableFolders({ syncs }: Settings): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const sync of Object.values(syncs)) {
    if (sync.type !== 'orders') continue;
    const { folder } = sync.options;
    const problem = await access(`${folder}${path.sep}`, constants.R_OK | constants.W_OK | constants.X_OK).then(
      () => undefined,
      folderProblem,
    );
    if (problem !== undefined) warnings.push(`The folder ${folder} of syncs.${sync.name}.options.folder ${problem}`);
  }
  return warnings;
}

function folderProblem(error: unknown): string {
  switch (codeOf(error)) {
    case 'ENOENT':
      return 'does not exist: create it, or correct the option';
    case 'ENOTDIR':
      return 'is not a folder: name another one';
    default:
      return 'cannot be read and written by this user: give the user of the worker that right';
  }
}

function signingSecretsIn({ targets, alerts }: Settings): readonly (SecretRef | undefined)[] {
  return [...Object.values(targets), ...Object.values(alerts)].flatMap((one) =>
    one.type === 'webhook' ? [one.secret, one.previousSecret] : [],
  );
}

function sharedWarnings({ same, sameKey }: SharedAccounts): readonly string[] {
  return [
    ...same.map(
      (names) =>
        `accounts ${allOf(names)} have the same address and key, so they are one tenant: they share links, runs and ` +
        'budget, and the strictest of their budgets applies to all of them',
    ),
    ...sameKey.map(
      (names) =>
        `accounts ${allOf(names)} have the same key at different addresses: if that is one service, give them one address`,
    ),
  ];
}
