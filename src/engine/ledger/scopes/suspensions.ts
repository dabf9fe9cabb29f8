/**
 * Suspended accounts, to which nothing is sent: because their key is refused, until a read with it has succeeded; or because
 * a person suspended them, until a person resumes them.
 */
import { LockstepError } from '../../../base/errors.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { scopeNamed } from './scopes.ts';

export interface Suspension {
  readonly code: 'KEY_REFUSED' | 'ACCOUNT_SUSPENDED';
  /** For people: the service's refusal and where to fix it, or who suspended the account and why. */
  readonly message: string;
  readonly since: Date;
  /** When the key was last refused, or the account last suspended by hand, on the database's clock. */
  readonly refusedAt: Date;
  /** When a worker tries the key again; null if a person has suspended the account. */
  readonly triedAt: Date | null;
}

/** Nothing is sent to the account until it is resumed. */
export class AccountSuspended extends LockstepError {
  override readonly name = 'AccountSuspended';
  readonly account: string;

  constructor(account: string, why: string) {
    super('ACCOUNT_SUSPENDED', `Account ${account} is suspended, so nothing is sent: ${why}`);
    this.account = account;
  }
}

/** The pause between two probes: it doubles from the first to the longest. */
const FIRST_PAUSE_S = 2;
const LONGEST_PAUSE_S = 60;

/**
 * Suspends an account whose key was refused, or notes that it was refused again; true if it was not suspended before. An
 * account that a person suspended stays as it is.
 */
export async function suspendAccount(db: Queryable, scope: string, message: string): Promise<boolean> {
  const suspended = await db.query<{ isNew: boolean }>(
    `insert into ledger.suspensions (scope, message, probe_at)
     values ($1, $2, clock_timestamp() + $3 * interval '1 s')
     on conflict (scope) do update set message = excluded.message, refused_at = clock_timestamp()
       where ledger.suspensions.by_hand is null
     returning xmax = 0 as "isNew"`, // a row that was updated has an xmax
    [scope, message, FIRST_PAUSE_S],
  );
  return suspended.rows[0]?.isNew ?? false;
}

/** Until `resumeAccount`, also if its key was refused before. A second one without a reason changes nothing. */
export async function suspendByHand(
  db: Queryable,
  scope: string,
  { by, reason }: { readonly by: string; readonly reason: string | undefined },
): Promise<void> {
  await db.query(
    `insert into ledger.suspensions (scope, message, by_hand, probe_at) values ($1, $2, $3, clock_timestamp())
     on conflict (scope) do update set message = excluded.message, by_hand = excluded.by_hand,
       since = clock_timestamp(), refused_at = clock_timestamp()
       where ledger.suspensions.by_hand is null or $4`,
    [scope, `Suspended by ${by}${reason === undefined ? '' : `: ${reason}`}.`, by, reason !== undefined],
  );
}

const COLUMNS = `case when by_hand is null then 'KEY_REFUSED' else 'ACCOUNT_SUSPENDED' end as code, message, since,
  refused_at as "refusedAt", case when by_hand is null then probe_at end as "triedAt"`;

/** Undefined if the account is not suspended. */
export async function suspensionOf(db: Queryable, scope: string): Promise<Suspension | undefined> {
  const found = await db.query<Suspension>(`select ${COLUMNS} from ledger.suspensions where scope = $1`, [scope]);
  return found.rows[0];
}

/** @throws AccountSuspended if a person has suspended the account */
export async function refuseSuspended(db: Queryable, account: string): Promise<void> {
  const suspension = await suspensionOf(db, await scopeNamed(db, account));
  if (suspension?.code !== 'ACCOUNT_SUSPENDED') return;
  throw new AccountSuspended(account, `${suspension.message} Resume it with: \`lockstep accounts resume ${account}\``);
}

/** Those of these accounts that are suspended, by name. */
export async function suspendedAccounts(
  db: Queryable,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, Suspension>> {
  const found = await db.query<Suspension & { name: string }>(
    `select t.name, ${COLUMNS} from unnest($1::text[]) t (name) left join ledger.accounts a using (name)
       join ledger.suspensions s on s.scope = coalesce(a.scope, t.name)`, // an account that was never opened has no scope
    [accounts],
  );
  return new Map(found.rows.map(({ name, ...suspension }) => [name, suspension]));
}

export type Probe =
  | { readonly status: 'open' }
  /** Suspended, and a process has tried the key recently. Infinite: suspended by hand, so the key is not tried. */
  | { readonly status: 'suspended'; readonly probeInMs: number }
  /** Suspended, and the caller has to try the key. */
  | { readonly status: 'probe' };

/** Whether an account may be used. Of all processes that ask, one at a time has to try the key. */
export async function askToProbe(db: Queryable, scope: string): Promise<Probe> {
  const found = await db.query<{ isTurn: boolean; inMs: number }>(
    `with turn as (
       update ledger.suspensions set probes = probes + 1,
         probe_at = clock_timestamp() + least($3, $2 * 2 ^ least(probes + 1, 10)) * interval '1 s'
       where scope = $1 and by_hand is null and probe_at <= clock_timestamp() returning scope
     )
     select turn.scope is not null as "isTurn",
       case when by_hand is null then greatest(0, extract(epoch from s.probe_at - clock_timestamp()) * 1000)
         else 'infinity' end::float8 as "inMs"
     from ledger.suspensions s left join turn using (scope) where s.scope = $1`,
    [scope, FIRST_PAUSE_S, LONGEST_PAUSE_S],
  );
  const row = found.rows[0];
  if (row === undefined) return { status: 'open' };
  return row.isTurn ? { status: 'probe' } : { status: 'suspended', probeInMs: row.inMs };
}

/** Allows a try of a refused key at once: the operator may have fixed it. */
export async function probeSoon(db: Queryable, scope: string): Promise<void> {
  await db.query(
    'update ledger.suspensions set probe_at = clock_timestamp(), probes = 0 where scope = $1 and by_hand is null',
    [scope],
  );
}

/** The key was accepted. False if the account was not suspended, or was suspended by hand. */
export async function liftSuspension(db: Queryable, scope: string): Promise<boolean> {
  const lifted = await db.query('delete from ledger.suspensions where scope = $1 and by_hand is null', [scope]);
  return lifted.rowCount === 1;
}

/** Ends a suspension by hand. False if there was none. */
export async function resumeAccount(db: Queryable, scope: string): Promise<boolean> {
  const resumed = await db.query('delete from ledger.suspensions where scope = $1 and by_hand is not null', [scope]);
  return resumed.rowCount === 1;
}
