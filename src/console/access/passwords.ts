/** Passwords of the settings: as text, or as a hash that `lockstep settings hash-password` makes. */
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** About 50 ms and 32 MB for each try. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const HASHED = /^scrypt:([\w-]{22}):([\w-]{43})$/;

/** `scrypt:SALT:HASH`, in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return `scrypt:${salt.toString('base64url')}:${(await hashOf(password, salt)).toString('base64url')}`;
}

/** `kept`: the text or the hash of the settings. Each try makes one hash, so no answer takes longer than another. */
export async function isPassword(given: string, kept: string): Promise<boolean> {
  const [, salt = '', hash] = HASHED.exec(kept) ?? [];
  const hashed = await hashOf(given, Buffer.from(salt, 'base64url'));
  if (hash === undefined) return timingSafeEqual(digestOf(given), digestOf(kept));
  return timingSafeEqual(hashed, Buffer.from(hash, 'base64url'));
}

function digestOf(password: string): Buffer {
  return createHash('sha256').update(password.normalize('NFKC')).digest();
}

function hashOf(password: string, salt: Buffer): Promise<Buffer> {
  return derive(password.normalize('NFKC'), salt, HASH_BYTES, COST);
}
