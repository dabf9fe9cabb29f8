/** Witnesses: records that an earlier list of a scope has shown, used to check a later list. */
import type pg from 'pg';
import type { WholeKind } from '../../../contract/kinds.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { inTransaction } from '../../../storage/transaction.ts';
import { lockIdentities, OTHER_THAN } from './scopes.ts';

export type WitnessedKind = WholeKind | 'contacts';

export interface Witness {
  readonly id: string;
  /** Its keys, such as e-mail and name. */
  readonly keys: Readonly<Record<string, string>>;
}

export interface StoredWitness extends Witness {
  /** How long ago it was first seen; negative if the clock was set back since. */
  readonly ageMs: number;
}

export interface KnownRecord extends Witness {
  readonly kind: WitnessedKind | 'tasks';
}

export async function readWitnesses(
  db: Queryable,
  scope: string,
  resource: WitnessedKind,
): Promise<readonly StoredWitness[]> {
  const found = await db.query<StoredWitness>(
    `select record_id as id, keys, (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as "ageMs"
     from ledger.witnesses where scope = $1 and resource = $2`,
    [scope, resource],
  );
  return found.rows;
}

/** Whether the operator has confirmed the tenant since its records changed: what its lists do not show was deleted. */
export async function wasRebound(db: Queryable, scope: string): Promise<boolean> {
  const found = await db.query(`select from ledger.scopes where id = $1 and rebound_at > '-infinity'`, [scope]);
  return found.rowCount === 1;
}

/** Some known records of a scope, of every kind that can be looked up by id. */
export async function knownRecords(db: Queryable, scope: string, most: number): Promise<readonly KnownRecord[]> {
  const found = await db.query<KnownRecord>(
    `select * from (
       select resource as kind, record_id as id, keys,
         row_number() over (partition by resource order by hashtext(record_id)) as nth
       from ledger.witnesses where scope = $1
       union all
       select 'tasks', task_id, jsonb_build_object('title', lower(state->>'title')), row_number() over (order by hashtext(task_id))
       from (select distinct on (task_id) task_id, state from ledger.tasks
         where scope = $1 and kind = 'task' and not is_gone and state->>'title' <> '' order by task_id, version desc) t
     ) known order by nth, kind limit $2`,
    [scope, most],
  );
  return found.rows.map(({ kind, id, keys }) => ({ kind, id, keys }));
}

/** Replaces the stored witnesses with these. */
export async function keepWitnesses(
  db: Queryable,
  scope: string,
  resource: WitnessedKind,
  witnesses: readonly Witness[],
): Promise<void> {
  await db.query(
    `with kept as (select * from unnest($3::text[], $4::jsonb[]) as t(record_id, keys)), gone as (
       delete from ledger.witnesses w where scope = $1 and resource = $2
         and not exists (select 1 from kept where kept.record_id = w.record_id))
     insert into ledger.witnesses (scope, resource, record_id, keys) select $1, $2, record_id, keys from kept
     on conflict (scope, resource, record_id) do update set keys = excluded.keys, seen_at = clock_timestamp()
       where ledger.witnesses.keys <> excluded.keys`,
    [scope, resource, witnesses.map(({ id }) => id), witnesses.map(({ keys }) => JSON.stringify(keys))],
  );
}

/** Other accounts with the same address or key, whose tenants may be the one of `$1`: no tenant numbers, nor a person, tell them apart. */
const NEIGHBOURS = `select s.id from ledger.scopes s, ledger.scopes own
  where own.id = $1 and s.id <> own.id and (s.tenant is null or own.tenant is null)
    and exists (select from ledger.accounts a where a.scope = s.id)
    and exists (select from ledger.identities theirs join ledger.identities ours
        on ours.origin = theirs.origin or ours.fingerprint = theirs.fingerprint
      where theirs.scope = s.id and ours.scope = own.id)
    and not exists (select from ledger.learnt l
      where (l.scope, l.name) in ((own.id, '${OTHER_THAN}' || s.id), (s.id, '${OTHER_THAN}' || own.id)))`;

/** The ids of the witnesses that other accounts with the same address or key have. */
export async function witnessedElsewhere(
  db: Queryable,
  scope: string,
  resource: WitnessedKind,
): Promise<ReadonlySet<string>> {
  const found = await db.query<{ id: string }>(
    `select record_id as id from ledger.witnesses where resource = $2 and scope in (${NEIGHBOURS})`,
    [scope, resource],
  );
  return new Set(found.rows.map(({ id }) => id));
}

export interface WitnessElsewhere extends Witness {
  readonly scope: string;
}

/**
 * Stores the first witnesses of a scope. If they are those of another scope, as `sameAs` finds among all that other accounts
 * with the same address or key have, stores that scope instead, for an operator to decide about, and returns it. Of two processes that
 * do this at the same time, the second one sees the witnesses of the first.
 */
export function keepUnlessElsewhere(
  pool: pg.Pool,
  scope: string,
  resource: WitnessedKind,
  witnesses: readonly Witness[],
  sameAs: (elsewhere: readonly WitnessElsewhere[]) => string | undefined,
): Promise<string | undefined> {
  return inTransaction(pool, async (db) => {
    await lockIdentities(db);
    const elsewhere = await db.query<WitnessElsewhere>(
      `select scope, record_id as id, keys from ledger.witnesses where resource = $2 and scope in (${NEIGHBOURS})`,
      [scope, resource],
    );
    const other = sameAs(elsewhere.rows);
    if (other === undefined) await keepWitnesses(db, scope, resource, witnesses);
    else await db.query('update ledger.scopes set same_tenant_as = $2 where id = $1', [scope, other]);
    return other;
  });
}

/** The tenant that the records of a scope name; undefined: they name none. */
export async function tenantOf(db: Queryable, scope: string): Promise<string | undefined> {
  const found = await db.query<{ tenant: string | null }>('select tenant from ledger.scopes where id = $1', [scope]);
  return found.rows[0]?.tenant ?? undefined;
}

/**
 * Stores the tenant of a scope. If there is another scope at the same address whose records name the same tenant, stores
 * that instead, for an operator to decide about, and returns it.
 */
export async function keepTenant(db: Queryable, scope: string, tenant: string): Promise<string | undefined> {
  const other = await db.query<{ id: string }>(
    `select s.id from ledger.scopes s join ledger.identities theirs on theirs.scope = s.id
       join ledger.identities ours on ours.scope = $1 and ours.origin = theirs.origin
     where s.tenant = $2 and s.id <> $1 limit 1`,
    [scope, tenant],
  );
  const [same] = other.rows;
  if (same) {
    await db.query('update ledger.scopes set same_tenant_as = $2 where id = $1', [scope, same.id]);
    return same.id;
  }
  await db.query('update ledger.scopes set tenant = $2 where id = $1 and tenant is distinct from $2', [scope, tenant]);
  return undefined;
}
