/**
 * Secrets that a vendor makes, shared by all processes: tokens that expire, and secrets of webhooks. They are stored encrypted
 * with a secret of the settings.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** `handshake`: no secret, only the time until which a handshake of a webhook is answered. */
export type KeptKind = 'token' | 'hook' | 'handshake';

interface Kept {
  /** As `sealed` made it. */
  readonly sealed: Buffer;
  /** Undefined: it does not expire. */
  readonly expiresAt: Date | undefined;
}

/** Of one target. */
export interface KeptSecrets {
  /** Undefined if there is none. */
  read(kind: KeptKind): Promise<Kept | undefined>;
  write(kind: KeptKind, kept: Kept): Promise<void>;
  forget(kind: KeptKind): Promise<void>;
  /** Does the work while no other process does such work for this target, in one transaction. */
  alone<T>(work: (kept: KeptSecrets) => Promise<T>): Promise<T>;
}

const CIPHER = 'aes-256-gcm';
const [SALT, IV, TAG] = [16, 12, 16];

/** Encrypts `text` so that only the same secret and the same kind open it. */
export function sealed(text: string, secret: string, kind: KeptKind): Buffer {
  const salt = randomBytes(SALT);
  const iv = randomBytes(IV);
  const cipher = createCipheriv(CIPHER, keyOf(secret, salt, kind), iv);
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, iv, cipher.getAuthTag(), data]);
}

/** Undefined if it was encrypted with another secret. */
export function unsealed(box: Buffer, secret: string, kind: KeptKind): string | undefined {
  const [salt, iv] = [box.subarray(0, SALT), box.subarray(SALT, SALT + IV)];
  const tag = box.subarray(SALT + IV, SALT + IV + TAG);
  if (tag.length < TAG) return undefined;
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(secret, salt, kind), iv).setAuthTag(tag);
    return Buffer.concat([decipher.update(box.subarray(SALT + IV + TAG)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function keyOf(secret: string, salt: Buffer, kind: KeptKind): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, `lockstep ${kind}`, 32));
}
