/** Suspended accounts: their key is refused, and nothing is sent with it until a read with it has succeeded. */
import type { Queryable } from '../../storage/queryable.ts';

export interface Suspension {
  /** The service's refusal and where to fix it, for people. */
  readonly message: string;
  readonly since: Date;
  /** When the key was last refused, on the database's clock. */
  readonly refusedAt: Date;
}

/** The pause between two probes: it doubles from the first to the longest. */
const FIRST_PAUSE_S = 2;
const LONGEST_PAUSE_S = 60;

/** Suspends an account, or notes that its key was refused again; true if it was not suspended before. */
export async function suspendAccount(
  db: Queryable,
  scope: string,
  { operation, message }: { readonly operation: string; readonly message: string },
): Promise<boolean> {
  const suspended = await db.query<{ isNew: boolean }>(
    `insert into ledger.suspensions (scope, operation, message, probe_at)
     values ($1, $2, $3, clock_timestamp() + $4 * interval '1 s')
     on conflict (scope) do update set operation = excluded.operation, message = excluded.message,
       refused_at = clock_timestamp()
     returning xmax = 0 as "isNew"`, // a row that was updated has an xmax
    [scope, operation, message, FIRST_PAUSE_S],
  );
  return suspended.rows[0]?.isNew ?? false;
}

/** Undefined if the account is not suspended. */
export async function suspensionOf(db: Queryable, scope: string): Promise<Suspension | undefined> {
  const found = await db.query<Suspension>(
    `select message, since, refused_at as "refusedAt" from ledger.suspensions where scope = $1`,
    [scope],
  );
  return found.rows[0];
}

export type Probe =
  | { readonly status: 'open' }
  /** Suspended, and a process has tried the key recently. */
  | { readonly status: 'suspended'; readonly probeInMs: number }
  /** Suspended, and the caller has to try the key with the refused operation. */
  | { readonly status: 'probe'; readonly operation: string };

/** Whether an account may be used. Of all processes that ask, one at a time has to try the key. */
export async function askToProbe(db: Queryable, scope: string): Promise<Probe> {
  const found = await db.query<{ operation: string; isTurn: boolean; inMs: number }>(
    `with turn as (
       update ledger.suspensions set probes = probes + 1,
         probe_at = clock_timestamp() + least($3, $2 * 2 ^ least(probes + 1, 10)) * interval '1 s'
       where scope = $1 and probe_at <= clock_timestamp() returning scope
     )
     select s.operation, turn.scope is not null as "isTurn",
       greatest(0, extract(epoch from s.probe_at - clock_timestamp()) * 1000)::float8 as "inMs"
     from ledger.suspensions s left join turn using (scope) where s.scope = $1`,
    [scope, FIRST_PAUSE_S, LONGEST_PAUSE_S],
  );
  const row = found.rows[0];
  if (row === undefined) return { status: 'open' };
  return row.isTurn ? { status: 'probe', operation: row.operation } : { status: 'suspended', probeInMs: row.inMs };
}

/** Allows a try of the key at once: the operator may have fixed it. */
export async function probeSoon(db: Queryable, scope: string): Promise<void> {
  await db.query('update ledger.suspensions set probe_at = clock_timestamp(), probes = 0 where scope = $1', [scope]);
}

/** False if the account was not suspended. */
export async function liftSuspension(db: Queryable, scope: string): Promise<boolean> {
  const lifted = await db.query('delete from ledger.suspensions where scope = $1', [scope]);
  return lifted.rowCount === 1;
}
