/**
 * Identifies the tenant of a request by its API_KEY header (docs/contract.md, "Authentication" 1–3). Only the SHA-256
 * of a key is stored. A valid key is remembered for half a second, so a revoked key stops working within a second.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { keyGuesses } from './key-guesses.ts';
import type { Refused } from './result.ts';
import type { SqlId } from './store/tenant-db.ts';
import type { Behaviour } from './testbed/behaviour.ts';

export interface Caller {
  readonly status: 'known';
  readonly tenantId: number;
  readonly keyId: number;
}

/** `address`: the caller's. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  address: string,
) => Promise<Caller | Refused> | Caller | Refused;

const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;

export function keyHash(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Checks a request's key, and its Authorization header if the behaviour requires one. Throws Postgres's errors. */
export function authenticator(pool: pg.Pool, required: Behaviour['requiredAuthorization']): Authenticate {
  /** Keys that were valid when they were last looked up. */
  const remembered = new Map<string, { caller: Caller; untilMs: number }>();
  const guesses = keyGuesses();

  async function lookUp(hashed: Buffer, address: string): Promise<Caller | Refused> {
    const known = hashed.toString('base64');
    const isGuess = !remembered.has(known);
    if (isGuess) await sleep(guesses.begin(address, performance.now()), undefined, { ref: false });
    const { rows } = await pool.query<{ id: SqlId; tenant_id: SqlId; key_hash: Buffer }>({
      name: 'service_key',
      text: 'select id, tenant_id, key_hash from service.keys where key_hash = $1 and revoked_at is null',
      values: [hashed],
    });
    const row = rows.find((candidate) => timingSafeEqual(candidate.key_hash, hashed));
    if (row === undefined) {
      remembered.delete(known);
      return unauthorized('API_KEY: unknown or revoked key');
    }
    if (isGuess) guesses.wasRight(address);
    const caller: Caller = { status: 'known', tenantId: Number(row.tenant_id), keyId: Number(row.id) };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(known, { caller, untilMs: performance.now() + REMEMBER_MS });
    return caller;
  }

  return (headers, address) => {
    if (required !== undefined && headers.authorization !== `${required.scheme} ${required.token}`) {
      return unauthorized(`Authorization: expected the scheme ${required.scheme} and a valid token`);
    }
    const key = headers.api_key; // Node writes the names of headers in lower case
    if (typeof key !== 'string' || key === '') return unauthorized('API_KEY: the header is missing');
    const hashed = keyHash(key);
    const entry = remembered.get(hashed.toString('base64'));
    return entry !== undefined && entry.untilMs > performance.now() ? entry.caller : lookUp(hashed, address);
  };
}

function unauthorized(message: string): Refused {
  return { status: 'refused', httpStatus: 401, message };
}
