/** Reads secrets when they are used, so a rotated secret needs no restart and an unused secret needs no value. */
import { readFile } from 'node:fs/promises';
import { codeOf, type LockstepError, wrongUse } from '../base/errors.ts';
import type { SecretRef } from './fields.ts';
import type { Environment } from './parse.ts';

/**
 * The secret itself, without surrounding white space. Do not keep it in an object that outlives the call that needs it.
 * Throws SECRET_MISSING (unset or empty variable, unreadable or empty file) and SECRET_INVALID (control characters,
 * which are not allowed in a header, except the line breaks of a key in PEM format), both exit code 2. The message names the setting, the source and the remedy, never
 * the value.
 */
export async function readSecret(ref: SecretRef, env: Environment): Promise<string> {
  const secret = (await readRaw(ref, env)).trim();
  if (secret === '') throw missing(ref, `${describe(ref)} is empty`);
  if (/\p{Cc}/u.test(secret) && !isPem(secret)) {
    const why = `${describe(ref)} contains line breaks or other control characters; it must contain only the secret`;
    throw wrongUse(`The secret for ${ref.where}: ${why}`, 'SECRET_INVALID');
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
  return wrongUse(message, 'SECRET_MISSING');
}

/** The setting and the source of a secret, for messages about a wrong one. */
export function sourceOf(ref: SecretRef): string {
  const source = `${ref.where}: ${describe(ref)}`;
  return ref.from === 'env' ? `${source}; restart Lockstep after you change it` : source;
}

function describe(ref: SecretRef): string {
  if (ref.from === 'env') return `the environment variable ${ref.name}`;
  return ref.from === 'file' ? `the file ${ref.path}` : 'the value in the settings file';
}

function remedy(ref: SecretRef): string {
  if (ref.from === 'env') return `export ${ref.name} before starting, or name another source`;
  if (ref.from === 'file') return 'write the secret into that file, readable by this user, or name another source';
  return 'write { env: NAME } or { file: PATH } instead';
}

/** A private key has several lines. */
function isPem(secret: string): boolean {
  return /^-----BEGIN [A-Z ]+-----\r?\n[A-Za-z\d+/=\r\n]+-----END [A-Z ]+-----$/.test(secret);
}
