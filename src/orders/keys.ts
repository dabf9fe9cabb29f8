/**
 * An order's key is its customer and its order_id. While a load is unfinished its keys are its own, so that loads side by
 * side never create one order twice; the keys of a load that has ended are anybody's.
 */
import { oweForEarlierSends } from '../engine/ledger/debts.ts';
import { endedUnsettledForMs } from '../engine/ledger/horizon.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';

/** What an earlier load has sent may still appear: no baseline can be read yet. */
export class Unsettled extends Error {
  override readonly name = 'Unsettled';
  readonly inMs: number;

  constructor(inMs: number) {
    super('an earlier load has left calls unsettled');
    this.inMs = inMs;
  }
}

/** Whose keys they are: the scope's, or the run's own where it only plans. */
export function keyScopeOf({ scope, dryRun, id }: Run): string {
  return dryRun ? id : scope;
}

/**
 * Takes the keys of all rows that have a customer and are undecided, and settles those whose key is not theirs alone; to be
 * run in one transaction that is rolled back when it throws. What ended loads had left to be sent under these keys is theirs
 * no more. @throws Unsettled
 */
export async function takeKeys(db: Queryable, run: Run, settleMs: number): Promise<void> {
  // A failed load that is being resumed at this moment waits, and then finds its rows settled below. One that fails only
  // now keeps its keys: it may be resumed before its rows are settled.
  const failed = await db.query<{ id: string }>(
    `select id from ledger.runs where scope = $1 and job = $2 and status = 'failed' and phase is not null
     order by id for update`,
    [run.scope, run.job],
  );
  await db.query(
    `delete from ledger.order_keys k where k.scope = $1 and k.run_id in (
       select held.run_id from (select distinct run_id from ledger.order_keys where scope = $1) held
       left join ledger.runs u on u.id = held.run_id where u.id is null or u.status in ('done', 'cancelled'))`,
    [keyScopeOf(run)],
  );
  // In one order for all, so that two loads never wait for each other.
  const taken = await db.query(
    `insert into ledger.order_keys (scope, client_id, label, run_id)
     select distinct $2, client_id, label, $1 from ledger.rows
     where run_id = $1 and state = 'staged' and client_id is not null order by client_id, label
     on conflict (scope, client_id, label) do update set run_id = excluded.run_id
       where ledger.order_keys.run_id = any($3)
         or exists (select 1 from ledger.runs u where u.id = ledger.order_keys.run_id and u.phase is null)`,
    [run.id, keyScopeOf(run), failed.rows.map(({ id }) => id)],
  );
  // After the keys: a load that was cancelled meanwhile has given its keys away, and its calls may be on their way.
  const inMs = await endedUnsettledForMs(db, run, settleMs);
  if (inMs > 0) throw new Unsettled(inMs);
  if (!run.dryRun)
    await settleDisowned(
      db,
      run,
      failed.rows.map(({ id }) => id),
    );
  const undecided = await db.query<{ n: number }>(
    `select count(*) as n from ledger.rows where run_id = $1 and state = 'staged' and client_id is not null`,
    [run.id],
  );
  const isEachItsOwn = !run.dryRun && taken.rowCount === undecided.rows[0]?.n; // new keys, as many of them as rows
  if (!isEachItsOwn) await reviewForeignKeys(db, run);
}

/**
 * Rows whose key a load holds that stands still, for a person (of a dry run, which cannot wait, any unfinished load's); and of
 * rows with one key all but one: what is decided stays. Rows whose key a running load holds wait for it.
 */
async function reviewForeignKeys(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'review', reason = 'ORDER_IN_ANOTHER_LOAD',
       detail = format('load %s, which is unfinished, has this order of customer %s too; load the file again once it has ended',
         k.run_id, k.client_id)
     from ledger.order_keys k join ledger.runs u on u.id = k.run_id
     where s.run_id = $1 and s.state = 'staged' and k.scope = $2 and k.client_id = s.client_id and k.label = s.label
       and k.run_id <> $1 and u.status = any($3)`,
    [run.id, run.scope, run.dryRun ? ['running', 'paused'] : ['paused']],
  );
  await db.query(
    `with repeated as (
       select source_id, first_value(source_id) over (partition by client_id, label order by state = 'staged', n) as first
       from ledger.rows where run_id = $1 and state in ('staged', 'ready') and client_id is not null
     )
     update ledger.rows s set state = 'settled', verdict = 'review', reason = 'ORDER_REPEATED',
       detail = format('line %s is the same order of the same customer', repeated.first)
     from repeated where s.run_id = $1 and s.source_id = repeated.source_id and repeated.first <> s.source_id
       and s.state = 'staged'`,
    [run.id],
  );
}

/**
 * Whether every key of what is to be decided is held, by this load or by a running one that is waited for: a load that has
 * failed and was resumed may have lost some.
 */
export async function holdsItsKeys(db: Queryable, run: Run): Promise<boolean> {
  const lost = await db.query(
    `select 1 from ledger.rows s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label
       left join ledger.runs u on u.id = k.run_id and (u.id = $1 or u.status = 'running')
     where s.run_id = $1 and s.state = 'staged' and s.client_id is not null and u.id is null limit 1`,
    [run.id, keyScopeOf(run)],
  );
  return lost.rowCount === 0;
}

/**
 * The load that rows of this one wait for, because it is sending their orders; `ended` where it is over by now and their keys
 * can be taken; undefined where none waits.
 */
export async function loadWaitedFor(db: Queryable, run: Run): Promise<string | undefined> {
  const found = await db.query<{ id: string | null }>(
    `select max(k.run_id) as id from ledger.rows s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label
     where s.run_id = $1 and s.state = 'staged' and s.client_id is not null and k.run_id is distinct from $1
     having count(*) > 0`,
    [run.id, keyScopeOf(run)],
  );
  const [waiting] = found.rows;
  return waiting && (waiting.id ?? 'ended');
}

/** Whether all that is undecided waits for loads that are sending: then there is nothing to read the orders for. */
export async function isHeldUp(db: Queryable, run: Run): Promise<boolean> {
  const found = await db.query<{ is: boolean }>(
    `select count(*) > 0 and coalesce(bool_and(u.id is not null), false) as is from ledger.rows s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label and k.run_id <> $1
       left join ledger.runs u on u.id = k.run_id and u.status = 'running' and u.phase is not null
     where s.run_id = $1 and s.state = 'staged'`,
    [run.id, keyScopeOf(run)],
  );
  return found.rows[0]?.is ?? false;
}

/** Adds audit debts for orders that this load is about to send although they were sent before, with an unknown outcome. */
export function oweForEarlierOrders(db: Queryable, run: Run, settleMs: number): Promise<void> {
  const same = 'k.client_id = s.client_id and k.label = s.label';
  return oweForEarlierSends(db, run, { resource: 'orders', settleMs, runs: `u.job = 'orders'`, same });
}

export async function releaseKeys(db: Queryable, run: Run): Promise<void> {
  await db.query('delete from ledger.order_keys where run_id = $1', [run.id]);
}

/** `failed`: loads that could be resumed; one at a time, for what the planner then knows of each. */
async function settleDisowned(db: Queryable, run: Run, failed: readonly string[]): Promise<void> {
  for (const id of failed) {
    await db.query(
      `update ledger.rows f set state = 'settled', verdict = 'review', reason = 'ORDER_IN_ANOTHER_LOAD',
         detail = format('this load had failed, and load %s has taken the order over', $1::text)
       from ledger.order_keys k, ledger.runs u
       where u.id = $3 and not u.dry_run and f.run_id = $3 and f.state in ('ready', 'intent', 'acked', 'unknown')
         and k.scope = $2 and k.client_id = f.client_id and k.label = f.label and k.run_id = $1`,
      [run.id, run.scope, id],
    );
  }
}
