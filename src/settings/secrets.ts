/** Reads secrets at the moment they are used, so that a rotated one needs no restart and an unused one no value. */
import { readFile } from 'node:fs/promises';
import { codeOf, LockstepError } from '../base/errors.ts';
import type { SecretRef } from './fields.ts';
import type { Environment } from './parse.ts';

/**
 * The secret itself, without surrounding white space; keep it in no object that outlives the call it is for.
 * Throws SECRET_MISSING (unset or empty variable, unreadable or empty file) and SECRET_INVALID (control characters, which
 * no header may carry), both exit code 2; the message names the place, the source and the remedy, never the value.
 */
export async function readSecret(ref: SecretRef, env: Environment): Promise<string> {
  const secret = (await readRaw(ref, env)).trim();
  if (secret === '') throw missing(ref, `${describe(ref)} is empty`);
  if (hasControlCharacters(secret)) {
    const why = `${describe(ref)} holds line breaks or other control characters; keep only the secret there`;
    throw new LockstepError('SECRET_INVALID', `The secret for ${ref.where}: ${why}`, { exitCode: 2 });
  }
  return secret;
}

async function readRaw(ref: SecretRef, env: Environment): Promise<string> {
  switch (ref.from) {
    case 'literal':
      return ref.value.reveal();
    case 'env': {
      const value = env[ref.name];
      if (value === undefined) throw missing(ref, `${describe(ref)} is not set`);
      return value;
    }
    case 'file':
      return readFile(ref.path, 'utf8').catch((error: unknown) => {
        throw missing(ref, `${describe(ref)} cannot be read (${codeOf(error) ?? 'unknown error'})`);
      });
    default:
      return ref satisfies never;
  }
}

function missing(ref: SecretRef, reason: string): LockstepError {
  const message = `The secret for ${ref.where} is missing: ${reason}; ${remedy(ref)}`;
  return new LockstepError('SECRET_MISSING', message, { exitCode: 2 });
}

function describe(ref: SecretRef): string {
  if (ref.from === 'env') return `the environment variable ${ref.name}`;
  return ref.from === 'file' ? `the file ${ref.path}` : 'the value in the settings file';
}

function remedy(ref: SecretRef): string {
  if (ref.from === 'env') return `export ${ref.name} before starting, or name another source`;
  if (ref.from === 'file') return 'write the secret into that file, readable by this user, or name another source';
  return 'write { env: NAME } or { file: PATH } there';
}

function hasControlCharacters(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\u007f');
}
