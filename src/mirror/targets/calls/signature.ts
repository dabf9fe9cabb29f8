/**
 * Signatures of webhooks: of the calls that we send and of the calls that we receive. Standard Webhooks:
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { wrongUse } from '../../../base/errors.ts';
import type { HookRequest, HookVerdict } from '../../../contract/target.ts';

export type Verified = { readonly status: 'genuine' } | Extract<HookVerdict, { status: 'refused' }>;

export interface SignedMessage {
  /** Contains no dot, because a dot ends the id in the signed text. */
  readonly id: string;
  readonly timestamp: Date;
  readonly body: string;
}

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAKE_ONE = 'make one with "echo whsec_$(openssl rand -base64 32)" and give it to the receiver too';
const TOLERANCE_S = 5 * 60;

/**
 * The key of a secret: the base64 after whsec_, otherwise the bytes of the text itself. `where` names its setting.
 * Throws TARGET_SECRET_SHORT and TARGET_SECRET_INVALID (not base64 after whsec_), exit code 2.
 */
export function signingKey(secret: string, where: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : undefined;
  if (encoded !== undefined && !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) {
    const message = `The signing secret of ${where} is not base64 after ${PREFIX}: ${MAKE_ONE}`;
    throw wrongUse(message, 'TARGET_SECRET_INVALID');
  }
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  if (key.length >= MIN_KEY_BYTES) return key;
  const size = `has ${key.length} bytes, but needs at least ${MIN_KEY_BYTES}`;
  throw wrongUse(`The signing secret of ${where} ${size}: ${MAKE_ONE}`, 'TARGET_SECRET_SHORT');
}

/** The three headers of a delivery, signed with each of `keys`: two during a rotation, so the receiver can accept either. */
export function signatureHeaders({ id, timestamp, body }: SignedMessage, keys: readonly Buffer[]) {
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': keys.map((key) => `v1,${sign(id, seconds, body, key)}`).join(' '),
  };
}

/** Verifies a call signed as Standard Webhooks specifies, with any of `keys`, at most five minutes from `now`. */
export function verifyStandardWebhook({ headers, body }: HookRequest, keys: readonly Buffer[], now: Date): Verified {
  const id = headers['webhook-id'];
  const seconds = headers['webhook-timestamp'];
  const signatures = headers['webhook-signature'];
  if (!id || !seconds || !signatures) {
    return refused('one of the headers webhook-id, webhook-timestamp and webhook-signature is missing');
  }
  if (!/^\d{1,12}$/.test(seconds)) return refused('the header webhook-timestamp is not a number of seconds');
  if (Math.abs(Math.floor(now.getTime() / 1000) - Number(seconds)) > TOLERANCE_S) {
    return refused('the header webhook-timestamp differs by more than five minutes from this machine’s clock');
  }
  const expected = keys.map((key) => sign(id, seconds, body, key));
  const given = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice('v1,'.length)] : []));
  const isGenuine = given.some((signature) => expected.some((ours) => isSame(ours, signature)));
  return isGenuine ? { status: 'genuine' } : refused('the signature is wrong');
}

/** Verifies a call with one of `secrets` in the header x-lockstep-secret: for systems that cannot sign. */
export function verifySharedSecret({ headers }: HookRequest, secrets: readonly string[]): Verified {
  const given = headers['x-lockstep-secret'];
  if (given === undefined) return refused('the header x-lockstep-secret is missing');
  return secrets.some((secret) => isSame(given, secret))
    ? { status: 'genuine' }
    : refused('the header x-lockstep-secret is wrong');
}

/** Verifies a call with the HMAC-SHA256 of its body, made with one of `secrets`, in this header, after `prefix`. `encoding`: default hexadecimal digits. */
export function verifyBodyDigest(
  { headers, body }: HookRequest,
  secrets: readonly string[],
  {
    header,
    prefix,
    encoding = 'hex',
  }: { readonly header: string; readonly prefix: string; readonly encoding?: 'hex' | 'base64' },
): Verified {
  const given = headers[header];
  if (given === undefined) return refused(`the header ${header} is missing`);
  const digestOf = (secret: string) => createHmac('sha256', secret).update(body).digest(encoding);
  return secrets.some((secret) => isSame(given, `${prefix}${digestOf(secret)}`))
    ? { status: 'genuine' }
    : refused('the signature is wrong');
}

function sign(id: string, seconds: string, body: string | Buffer, key: Buffer): string {
  return createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64');
}

/** Takes a time that reveals nothing about the texts or their lengths. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

export function refused(reason: string, httpStatus: 400 | 401 = 401): Extract<HookVerdict, { status: 'refused' }> {
  return { status: 'refused', httpStatus, reason };
}
