/** How the budget of each tenant was used, minute by minute, by all processes. */
import { grouped } from '../../../base/grouped.ts';
import type { Queryable } from '../../../storage/queryable.ts';

/** What one process adds to the minute that is now. */
export interface BudgetUse {
  /** Calls that the budget granted. */
  readonly calls: number;
  /** Of them, those that the service answered with 429. */
  readonly limited: number;
  /** How long these calls waited for the budget, together. */
  readonly waitedMs: number;
  /** Calls a second that the budget allows now; undefined if it is not known. */
  readonly perSecond: number | undefined;
  /** For how long the service asks to wait from now on; undefined if it does not. */
  readonly pausedForMs?: number | undefined;
}

export interface BudgetMinute {
  /** When it began. */
  readonly at: Date;
  readonly calls: number;
  readonly limited: number;
  readonly waitedMs: number;
  /** What the budget allowed at last; of several minutes, the lowest. */
  readonly perSecond: number | null;
}

/** A week of minutes is a page of 10,000 rows for each account. */
const KEPT = '7 days';

/** SQL: the accounts `$1`, each with the scope of its tenant. */
const TENANTS = `(select account, coalesce(a.scope, account) as scope
  from unnest($1::text[]) given (account) left join ledger.accounts a on a.name = given.account) t`;

/** Adds to the minute that the database's clock shows, and deletes what is older than a week. */
export async function addBudgetUse(db: Queryable, scope: string, use: BudgetUse): Promise<void> {
  const { calls, limited, waitedMs, perSecond, pausedForMs } = use;
  await db.query(
    `insert into ledger.budget_minutes as m (scope, minute, calls, limited, waited_ms, per_second, paused_until)
     values ($1, date_trunc('minute', clock_timestamp()), $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 ms')
     on conflict (scope, minute) do update set calls = m.calls + excluded.calls, limited = m.limited + excluded.limited,
       waited_ms = m.waited_ms + excluded.waited_ms, per_second = coalesce(excluded.per_second, m.per_second),
       paused_until = greatest(m.paused_until, excluded.paused_until)`,
    [scope, calls, limited, waitedMs, perSecond, pausedForMs],
  );
  await db.query(`delete from ledger.budget_minutes where minute < clock_timestamp() - interval '${KEPT}'`);
}

/**
 * The last `minutes` of the tenant of each account, in steps of `stepMinutes`, the oldest first; a step without a call has
 * zeros. Accounts whose tenant got no call in this time are left out.
 */
export async function budgetHistory(
  db: Queryable,
  accounts: readonly string[],
  { minutes, stepMinutes }: { readonly minutes: number; readonly stepMinutes: number },
): Promise<ReadonlyMap<string, readonly BudgetMinute[]>> {
  const found = await db.query<BudgetMinute & { account: string }>(
    `with steps as (
       select s as at, s + $3 * interval '1 minute' as until
       from generate_series(date_trunc('minute', clock_timestamp()) - ($2::int - 1) * interval '1 minute',
         clock_timestamp(), $3 * interval '1 minute') s
     ), used as (
       select t.account, m.* from ${TENANTS} join ledger.budget_minutes m using (scope)
       where minute >= date_trunc('minute', clock_timestamp()) - ($2::int - 1) * interval '1 minute'
     )
     select accounts.account, at, coalesce(sum(calls), 0)::int as calls, coalesce(sum(limited), 0)::int as limited,
       coalesce(sum(waited_ms), 0) as "waitedMs", min(per_second) as "perSecond"
     from (select distinct account from used) accounts cross join steps
       left join used on used.account = accounts.account and used.minute >= at and used.minute < until
     group by accounts.account, at order by accounts.account, at`,
    [accounts, minutes, stepMinutes],
  );
  return grouped(found.rows.map(({ account, ...minute }) => [account, minute]));
}

/** Until when the service of each account asks to wait; accounts that may make calls now are left out. */
export async function pausesAsked(db: Queryable, accounts: readonly string[]): Promise<ReadonlyMap<string, Date>> {
  const found = await db.query<{ account: string; until: Date }>(
    `select t.account, max(paused_until) as until
     from ${TENANTS} join ledger.budget_minutes m using (scope)
     where paused_until is not null and paused_until > clock_timestamp() group by t.account`,
    [accounts],
  );
  return new Map(found.rows.map(({ account, until }) => [account, until]));
}

/** Calls a second that each account was allowed when it was last used; accounts that were not used for a week are left out. */
export async function lastRates(db: Queryable, accounts: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await db.query<{ account: string; perSecond: number }>(
    `select t.account, last.per_second as "perSecond"
     from ${TENANTS} cross join lateral (select per_second from ledger.budget_minutes m
         where m.scope = t.scope and per_second is not null order by minute desc limit 1) last`,
    [accounts],
  );
  return new Map(found.rows.map(({ account, perSecond }) => [account, perSecond]));
}

/** The minutes of a tenant from one time until another in which it made calls. */
export async function budgetBetween(
  db: Queryable,
  scope: string,
  from: Date,
  until: Date,
): Promise<readonly BudgetMinute[]> {
  const found = await db.query<BudgetMinute>(
    `select minute as at, calls, limited, waited_ms as "waitedMs", per_second as "perSecond" from ledger.budget_minutes
     where scope = $1 and minute between date_trunc('minute', $2::timestamptz) and $3 order by minute`,
    [scope, from, until],
  );
  return found.rows;
}
