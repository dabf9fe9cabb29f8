/** Tenants and their API keys. A key is shown once, when it is made; the store has only its SHA-256. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { wrongUse } from '../base/errors.ts';
import { type Stored, withoutNulls } from '../storage/queryable.ts';
import { keyHash } from './authentication.ts';
import type { SqlId } from './store/tenant-db.ts';

export interface Tenant {
  readonly id: number;
  readonly name: string;
}

export interface KeyEntry {
  readonly id: number;
  readonly label: string | undefined;
  /** First digits of the key's hash: enough to tell keys apart, useless as a key. */
  readonly fingerprint: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | undefined;
}

/** Throws LockstepError `TENANT_EXISTS` if the name is taken. */
export async function createTenant(pool: pg.Pool, name: string): Promise<Tenant> {
  const sql = 'insert into service.tenants (name) values ($1) on conflict (name) do nothing returning id';
  const { rows } = await pool.query<{ id: SqlId }>(sql, [name]);
  if (rows[0] === undefined) {
    const message = `Tenant "${name}" already exists: choose another name, or create a key for it`;
    throw wrongUse(message, 'TENANT_EXISTS');
  }
  return { id: Number(rows[0].id), name };
}

/** The tenant of that name, created if there is none. */
export async function ensureTenant(pool: pg.Pool, name: string): Promise<Tenant> {
  const { rows } = await pool.query<{ id: SqlId }>(
    `with made as (insert into service.tenants (name) values ($1) on conflict (name) do nothing returning id)
     select id from made union all select id from service.tenants where name = $1`,
    [name],
  );
  if (rows[0] !== undefined) return { id: Number(rows[0].id), name };
  return ensureTenant(pool, name); // another process has created it during the statement
}

export async function listTenants(pool: pg.Pool): Promise<Tenant[]> {
  const { rows } = await pool.query<{ id: SqlId; name: string }>('select id, name from service.tenants order by id');
  return rows.map((row) => ({ id: Number(row.id), name: row.name }));
}

/** A key of a workspace's account has this label, and the account's name. */
export const OF_ACCOUNT = 'account ';

/** @throws LockstepError KEY_UNFIT */
export function requireFitKey(key: string): void {
  if (/^[\x21-\x7e]{20,512}$/.test(key)) return;
  const message =
    'An API key has 20 to 512 visible ASCII characters without spaces; make one with "openssl rand -base64 32"';
  throw wrongUse(message, 'KEY_UNFIT');
}

/**
 * Makes a key of 256 random bits, or uses the given key. The same key may be given repeatedly; a revoked key works
 * again after it is given. Throws LockstepError `KEY_TAKEN` if the key belongs to another tenant, `NO_SUCH_TENANT`,
 * `KEY_UNFIT`.
 */
export async function createKey(
  pool: pg.Pool,
  tenantId: number,
  options: { readonly key?: string; readonly label?: string } = {},
): Promise<{ readonly key: string }> {
  const key = options.key ?? randomBytes(32).toString('base64url');
  requireFitKey(key);
  const { rows } = await pool.query<{ tenant_id: SqlId }>(
    `insert into service.keys (tenant_id, key_hash, label)
     select id, $2, $3 from service.tenants where id = $1
     on conflict (key_hash) do update
       set revoked_at = case when keys.tenant_id = $1 then null else keys.revoked_at end
     returning tenant_id`,
    [tenantId, keyHash(key), options.label],
  );
  if (rows[0] === undefined) {
    throw wrongUse(`Tenant ${tenantId} does not exist`, 'NO_SUCH_TENANT');
  }
  if (Number(rows[0].tenant_id) !== tenantId) {
    const message = `The key belongs to a tenant other than ${tenantId}: choose another key`;
    throw wrongUse(message, 'KEY_TAKEN');
  }
  return { key };
}

export async function listKeys(pool: pg.Pool, tenantId: number): Promise<KeyEntry[]> {
  const { rows } = await pool.query<Stored<Omit<KeyEntry, 'id'>> & { readonly id: SqlId }>(
    `select id, label, left(encode(key_hash, 'hex'), 12) as fingerprint, created_at as "createdAt", revoked_at as "revokedAt"
     from service.keys where tenant_id = $1 order by id`,
    [tenantId],
  );
  return rows.map(({ id, ...row }) => ({ ...withoutNulls<Omit<KeyEntry, 'id'>>(row), id: Number(id) }));
}

/** Revokes a key within a second; false if the tenant has no such valid key. */
export async function revokeKey(pool: pg.Pool, tenantId: number, keyId: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update service.keys set revoked_at = now() where tenant_id = $1 and id = $2 and revoked_at is null',
    [tenantId, keyId],
  );
  return rowCount === 1;
}
