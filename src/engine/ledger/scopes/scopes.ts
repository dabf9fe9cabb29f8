/**
 * Scopes: each is one tenant of one service. Accounts are names for scopes, and two names may share one scope. The
 * ledger's knowledge of records belongs to a scope, because ids are small integers on every service.
 */
import { createHmac } from 'node:crypto';
import { type Queryable, type Stored, withoutNulls } from '../../../storage/queryable.ts';
import { keepLearnt } from './learnt.ts';

/** What a person has said of a scope: it is another tenant than the scope whose name follows. */
export const OTHER_THAN = 'other-than:';

/** What identifies a service before anything is read from it. */
export interface Identity {
  /** As the settings have it; `embedded` for the service that Lockstep serves itself. */
  readonly address: string;
  /** Scheme, host, port and base path in a form to compare: all names of this machine are `localhost`. */
  readonly origin: string;
  /** Keyed hash of the API key, or of the tenant's name at the embedded service. */
  readonly fingerprint: string;
}

/** What the ledger knows of an account's name and of an identity. */
export interface Known {
  /** The scope of the account with this name. */
  readonly bound: string | undefined;
  /** The scope that has this identity. */
  readonly known: string | undefined;
  /** Origins at which the bound scope has been used; empty for a scope of an earlier version. */
  readonly origins: readonly string[];
  /** Other scopes with the same key at another address. */
  readonly sameKey: readonly string[];
}

/** A hash of an API key, keyed by this ledger's own secret: 32 hexadecimal digits. */
export async function fingerprintOf(db: Queryable, secret: string): Promise<string> {
  const found = await db.query<{ secret: string }>('select secret from ledger.fingerprint_key');
  const key = found.rows[0]?.secret ?? '';
  return createHmac('sha256', key).update(secret).digest('hex').slice(0, 32);
}

/** What the ledger knows of the account `name` and of an identity. */
export async function whatIsKnown(db: Queryable, name: string, { origin, fingerprint }: Identity): Promise<Known> {
  const found = await db.query<Stored<Known>>(
    `with bound as (select scope from ledger.accounts where name = $1)
     select (select scope from bound) as bound,
       (select scope from ledger.identities where origin = $2 and fingerprint = $3) as known,
       array(select distinct origin from ledger.identities where scope = (select scope from bound)) as origins,
       array(select distinct scope from ledger.identities where fingerprint = $3 and origin <> $2
         and scope is distinct from (select scope from bound)) as "sameKey"`,
    [name, origin, fingerprint],
  );
  const [row] = found.rows;
  return row ? withoutNulls<Known>(row) : { bound: undefined, known: undefined, origins: [], sameKey: [] };
}

/** The scope of an account; its name if it was never opened. */
export async function scopeNamed(db: Queryable, account: string): Promise<string> {
  const found = await db.query<{ scope: string }>('select scope from ledger.accounts where name = $1', [account]);
  return found.rows[0]?.scope ?? account;
}

/** Whether the account was opened before, so that it has a scope. */
export async function isBound(db: Queryable, account: string): Promise<boolean> {
  return (await db.query('select 1 from ledger.accounts where name = $1', [account])).rowCount === 1;
}

export async function bindAccount(db: Queryable, name: string, scope: string): Promise<void> {
  await db.query(
    `insert into ledger.accounts (name, scope) values ($1, $2)
     on conflict (name) do update set scope = excluded.scope, bound_at = clock_timestamp()
       where ledger.accounts.scope <> excluded.scope`,
    [name, scope],
  );
}

/** Assigns an identity to a scope; it then belongs to no other scope. */
export async function addIdentity(db: Queryable, scope: string, { origin, fingerprint }: Identity): Promise<void> {
  await db.query(
    `insert into ledger.identities (origin, fingerprint, scope) values ($1, $2, $3)
     on conflict (origin, fingerprint) do update set scope = excluded.scope, since = clock_timestamp()
       where ledger.identities.scope <> excluded.scope`,
    [origin, fingerprint, scope],
  );
}

/** Notes that a service has accepted a call with this identity. */
export async function noteAccepted(db: Queryable, { origin, fingerprint }: Identity): Promise<void> {
  await db.query(
    `update ledger.identities set accepted_at = clock_timestamp()
     where origin = $1 and fingerprint = $2 and accepted_at is null`,
    [origin, fingerprint],
  );
}

async function isAccepted(db: Queryable, { origin, fingerprint }: Identity): Promise<boolean> {
  const found = await db.query(
    'select from ledger.identities where origin = $1 and fingerprint = $2 and accepted_at is not null',
    [origin, fingerprint],
  );
  return found.rowCount === 1;
}

/** Deletes the identities of a scope that was never used, so that the account may move. */
export async function dropIdentities(db: Queryable, scope: string): Promise<void> {
  await db.query('delete from ledger.identities where scope = $1', [scope]);
}

/** The name of a scope's service at its first use; `now` if it was never used. */
export async function firstService(db: Queryable, scope: string, now: string): Promise<string> {
  const found = await db.query<{ service: string | null }>('select service from ledger.scopes where id = $1', [scope]);
  const service = found.rows[0]?.service ?? undefined;
  if (service !== undefined) return service;
  await db.query('update ledger.scopes set service = $2 where id = $1 and service is null', [scope, now]);
  return now;
}

/** Locks until the transaction ends: two processes that see a tenant for the first time must not create two scopes. */
export async function lockIdentities(db: Queryable): Promise<void> {
  await db.query('lock table ledger.identities in share row exclusive mode');
}

/** Creates an empty scope with the account's name, or the name and a number if that is taken. */
export async function newScope(db: Queryable, name: string): Promise<string> {
  for (let n = 1; ; n++) {
    const id = n === 1 ? name : `${name}~${n}`;
    const made = await db.query('insert into ledger.scopes (id) values ($1) on conflict do nothing', [id]);
    if (made.rowCount === 1) return id;
  }
}

/**
 * Whether nothing depends on the scope: no link, no task, and no run with rows. Rows that were read from a file do not count
 * as long as no service has accepted a call: a wrong address or key identifies no tenant.
 */
export async function isUnused(db: Queryable, scope: string): Promise<boolean> {
  const found = await db.query<{ used: boolean }>(
    `select exists (select 1 from ledger.links where scope = $1)
       or exists (select 1 from ledger.tasks where scope = $1)
       or exists (select 1 from ledger.witnesses where scope = $1)
       or exists (select 1 from ledger.identities where scope = $1 and accepted_at is not null)
         and exists (select 1 from ledger.runs u where u.scope = $1 and not u.dry_run
         and (u.rows_seen > 0 or u.rows_settled > 0 or exists (select 1 from ledger.inputs r where r.run_id = u.id))) as used`,
    [scope],
  );
  return found.rows[0]?.used === false;
}

/**
 * The operator confirms that the account is the same tenant. A changed address or key belongs to it from now on; so does the
 * key of another scope whose records name the same tenant. If nothing of this is so, the records of the account have changed,
 * and they are learnt again; unless no call was made since the address or key changed: then the operator repeats the same
 * confirmation. Undefined: never used.
 */
export async function rebindAccount(db: Queryable, name: string, identity: Identity): Promise<string | undefined> {
  const { bound, known } = await whatIsKnown(db, name, identity);
  if (bound === undefined) return undefined;
  const same = known === bound ? (await sameTenantAs(db, bound))?.scope : undefined;
  const scope = same ?? known ?? bound;
  if (same !== undefined) await db.query('update ledger.accounts set scope = $2 where scope = $1', [bound, same]);
  await bindAccount(db, name, scope);
  await addIdentity(db, scope, identity);
  if (scope === bound && known === bound && (await isAccepted(db, identity))) {
    await db.query('update ledger.scopes set rebound_at = clock_timestamp(), tenant = null where id = $1', [scope]);
    await db.query('delete from ledger.witnesses where scope = $1', [scope]);
  }
  return scope;
}

/** The other scope whose records name the same tenant. Once an operator has decided, no account is bound to `scope` any more. */
async function sameTenantAs(
  db: Queryable,
  scope: string,
): Promise<{ readonly scope: string; readonly tenant: string | null } | undefined> {
  const found = await db.query<{ scope: string; tenant: string | null }>(
    `select o.id as scope, o.tenant from ledger.scopes s join ledger.scopes o on o.id = s.same_tenant_as where s.id = $1`,
    [scope],
  );
  return found.rows[0];
}

export type Moved =
  | { readonly status: 'moved'; readonly scope: string }
  /** The address and key belong to another account's tenant. */
  | { readonly status: 'known'; readonly scope: string }
  | { readonly status: 'never-used' };

/** The operator says that the account, and any other name for the same tenant, is a different tenant now. */
export async function moveToFreshScope(db: Queryable, name: string, identity: Identity): Promise<Moved> {
  const { bound, known } = await whatIsKnown(db, name, identity);
  if (bound === undefined) return { status: 'never-used' };
  if (known !== undefined && known !== bound) return { status: 'known', scope: known };
  const same = known === bound ? await sameTenantAs(db, bound) : undefined;
  const scope = await newScope(db, name);
  await addIdentity(db, scope, identity);
  // Its records name a tenant, or are equal, as those of the other scope, and this is no reason to ask again.
  if (same !== undefined) {
    await db.query('update ledger.scopes set tenant = $2 where id = $1', [scope, same.tenant]);
    await keepLearnt(db, scope, OTHER_THAN + same.scope, true);
  }
  if (known === bound) await db.query('update ledger.accounts set scope = $2 where scope = $1', [bound, scope]);
  await bindAccount(db, name, scope);
  return { status: 'moved', scope };
}

/** The unfinished runs of a scope whose accounts are another tenant now, so that they cannot continue. */
export async function strandedRuns(db: Queryable, scope: string): Promise<readonly string[]> {
  const found = await db.query<{ id: string }>(
    `select u.id from ledger.runs u join ledger.accounts a on a.name = u.account and a.scope <> u.scope
     where u.scope = $1 and u.status in ('running', 'paused') order by u.created_at`,
    [scope],
  );
  return found.rows.map(({ id }) => id);
}

export interface ListedAccount {
  readonly name: string;
  readonly scope: string;
  readonly boundAt: Date;
  readonly origins: readonly string[];
  readonly tenant: string | null;
}

export async function listAccounts(db: Queryable): Promise<readonly ListedAccount[]> {
  const found = await db.query<ListedAccount>(
    `select a.name, a.scope, a.bound_at as "boundAt", s.tenant,
       array(select distinct origin from ledger.identities i where i.scope = a.scope order by origin) as origins
     from ledger.accounts a join ledger.scopes s on s.id = a.scope order by a.name`,
  );
  return found.rows;
}
