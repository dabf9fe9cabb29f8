/**
 * An order's key is its customer and its order_id. An unfinished load owns its keys, so that concurrent loads never create
 * one order twice; the keys of an ended load are free.
 */
import type pg from 'pg';
import type { Queryable } from '../../../storage/queryable.ts';
import { type Transactional, together } from '../../../storage/transaction.ts';
import { oweForEarlierSends } from '../audit-debts.ts';
import { endedUnsettledForMs } from '../baseline-wait.ts';
import { MANY, prepareSetWork } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { settleRows } from '../transitions.ts';
import { MAY_EXIST } from '../unsettled.ts';
import { CUSTOMER, IS_SETTLED, ORDERS, STAGED } from './staged-orders.ts';

/** The owner of the keys: the scope, or the run itself for a dry run. */
export function keyScopeOf({ scope, dryRun, id }: Run): string {
  return dryRun ? id : scope;
}

/**
 * Takes the keys of all undecided rows with a customer, and settles rows whose key is shared; run it in one transaction.
 * Ended loads lose unsent rows with these keys. Returns how long orders sent by an earlier load may still appear, in
 * milliseconds: if that is not 0, nothing was taken, and no baseline can be read.
 */
export async function takeKeys(db: Queryable, run: Run, settleMs: number): Promise<number> {
  await db.query('savepoint before_keys');
  // A failed load that is being resumed waits, and then finds its rows settled below. A load that fails only now keeps its
  // keys: it may be resumed before its rows are settled.
  const failed = await db.query<{ id: string }>(
    `select id from ledger.runs where scope = $1 and job = $2 and status = 'failed' and phase is not null
     order by id for update`,
    [run.scope, run.type],
  );
  const failedIds = failed.rows.map(({ id }) => id);
  await prepareSetWork(db, run.id);
  await db.query(
    `delete from ledger.order_keys k where k.scope = $1 and k.run_id in (
       select held.run_id from (select distinct run_id from ledger.order_keys where scope = $1) held
       left join ledger.runs u on u.id = held.run_id where u.id is null or u.status in ('done', 'cancelled'))`,
    [keyScopeOf(run)],
  );
  // One load at a time takes keys of a scope, so free keys are inserted without `on conflict`.
  await db.query(`select pg_advisory_xact_lock(hashtextextended('order_keys ' || $1, 0))`, [keyScopeOf(run)]);
  const counted = await db.query<{ rows: number; taken: number }>(
    `with staged as materialized (select client_id, label from (${STAGED}) s where client_id is not null), known as (
       update ledger.order_keys k set run_id = $1 from (select distinct * from staged) s
       where k.scope = $2 and k.client_id = s.client_id and k.label = s.label and (k.run_id = any($3)
         or exists (select from ledger.runs u where u.id = k.run_id and u.phase is null))
       returning 1
     ), free as (
       insert into ledger.order_keys (scope, client_id, label, run_id)
       select distinct $2, client_id, label, $1 from staged s where not exists (select from ledger.order_keys k
         where k.scope = $2 and k.client_id = s.client_id and k.label = s.label) order by client_id, label
       returning 1
     )
     select (select count(*) from staged)::int as rows,
       ((select count(*) from known) + (select count(*) from free))::int as taken`,
    [run.id, keyScopeOf(run), failedIds],
  );
  // After the keys: a load that was cancelled meanwhile has released its keys, and its calls may be in flight.
  const inMs = await endedUnsettledForMs(db, run, settleMs);
  if (inMs > 0) {
    await db.query('rollback to savepoint before_keys');
    return inMs;
  }
  if (!run.dryRun) await settleDisowned(db, run, failedIds);
  await reviewCorrected(db, run);
  const [count] = counted.rows;
  // Without statistics the planner scans all keys for each row.
  if (count && count.taken > MANY) await db.query('analyze ledger.order_keys');
  const isEachItsOwn = !run.dryRun && count?.taken === count?.rows; // as many new keys as rows
  if (!isEachItsOwn) await reviewForeignKeys(db, run);
  return 0;
}

/**
 * Sends rows to manual review if a load without progress holds their key (for a dry run, which cannot wait, any unfinished
 * load), and all but one of the rows that share a key; decided rows stay decided. Rows whose key a running load holds wait
 * for it.
 */
async function reviewForeignKeys(db: Queryable, run: Run): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, 'review' as verdict, 'ORDER_IN_ANOTHER_LOAD' as reason, null::text as record_id,
        jsonb_build_object('load', k.run_id, 'customer', k.client_id) as facts
      from (${STAGED}) s join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label
        join ledger.runs u on u.id = k.run_id
      where k.run_id <> $1 and u.status = any($3)`,
    values: [run.scope, run.dryRun ? ['running', 'paused'] : ['paused']],
  });
  await settleRows(db, run.id, {
    sql: `select r.n, 'review' as verdict, 'ORDER_REPEATED' as reason, null::text as record_id,
        jsonb_build_object('other', r.first) as facts
      from (select i.n, p.n is null as is_staged,
          first_value(i.n) over (partition by ${CUSTOMER}, i.label order by p.n is null, i.n) as first
        from ${ORDERS} left join ledger.plans p on p.run_id = i.run_id and p.n = i.n
        where i.run_id = $1 and ${CUSTOMER} is not null and not ${IS_SETTLED}) r
      where r.first <> r.n and r.is_staged`,
  });
}

/**
 * A label that Lockstep gave to a row names one line of one file. If a correction names another customer than an earlier one, or
 * than the row of the file itself, and that order exists or is being sent, a person decides. Looked up row by row, because
 * joins read whole tables here.
 */
async function reviewCorrected(db: Queryable, run: Run): Promise<void> {
  const IS_CORRECTION = `l.form->>'isCorrection' = 'true'`;
  const told = await db.query<{ own: boolean }>(
    `select l.run_id = $1 as own from ledger.loads l where l.scope = $2 and ${IS_CORRECTION} order by l.run_id <> $1 limit 1`,
    [run.id, run.scope],
  );
  const [correction] = told.rows;
  if (!correction) return;
  await settleRows(db, run.id, {
    sql: `select s.n, 'review' as verdict, 'CORRECTED_OTHERWISE' as reason, null::text as record_id, o.facts
      from (${STAGED}) s cross join lateral (
        select jsonb_build_object('load', i.run_id, 'customer', ${CUSTOMER}) as facts
        from ledger.inputs i left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer'
        where i.label = s.label and i.cells is not null and i.run_id <> $1 and ${CUSTOMER} <> s.client_id
          and exists (select from ledger.runs u join ledger.loads l on l.run_id = u.id
            where u.id = i.run_id and u.scope = $2 and not u.dry_run and ($3::boolean or ${IS_CORRECTION}) offset 0)
          and (exists (select from ledger.verdicts v where v.run_id = i.run_id and v.n = i.n
              and (v.verdict in ('created', 'updated', 'existing') or v.reason in ${MAY_EXIST}) offset 0)
            or exists (select from ledger.order_keys k where k.scope = $2 and k.client_id = ${CUSTOMER} and k.label = i.label
              and k.run_id = i.run_id and not ${IS_SETTLED} offset 0))
        limit 1) o
      where s.client_id is not null and s.label ~ '^LS-[0-9a-f]{8}-[0-9]+$'`,
    values: [run.scope, correction.own],
  });
}

/**
 * Whether every key of the undecided rows is held by this load, or by a running load that it waits for. A load that failed
 * and was resumed may have lost keys.
 */
export async function holdsItsKeys(db: Transactional, run: Run): Promise<boolean> {
  const lost = await queryUndecided(
    db,
    run,
    `select 1 from (${STAGED}) s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label
       left join ledger.runs u on u.id = k.run_id and (u.id = $1 or u.status = 'running')
     where s.client_id is not null and u.id is null limit 1`,
    [run.id, keyScopeOf(run)],
  );
  return lost.rowCount === 0;
}

/**
 * The load that rows of this one wait for, because it is sending their orders; `ended` if it has ended and their keys can
 * be taken; undefined if no row waits.
 */
export async function loadWaitedFor(db: Transactional, run: Run): Promise<string | undefined> {
  const found = await queryUndecided<{ id: string | null }>(
    db,
    run,
    `select max(k.run_id) as id from (${STAGED}) s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label
     where s.client_id is not null and k.run_id is distinct from $1
     having count(*) > 0`,
    [run.id, keyScopeOf(run)],
  );
  const [waiting] = found.rows;
  return waiting && (waiting.id ?? 'ended');
}

/** Whether all undecided rows wait for loads that are sending: then reading the orders is not needed. */
export async function isHeldUp(db: Transactional, run: Run): Promise<boolean> {
  const found = await queryUndecided<{ is: boolean }>(
    db,
    run,
    `select count(*) > 0 and coalesce(bool_and(u.id is not null), false) as is from (${STAGED}) s
       left join ledger.order_keys k on k.scope = $2 and k.client_id = s.client_id and k.label = s.label and k.run_id <> $1
       left join ledger.runs u on u.id = k.run_id and u.status = 'running' and u.phase is not null
     where exists (select from ledger.runs o
       where o.scope = $3 and o.job = $4 and o.id <> $1 and o.status = 'running' and o.phase is not null)`,
    [run.id, keyScopeOf(run), run.scope, run.type],
  );
  return found.rows[0]?.is ?? false;
}

/** Other rows of the run may have been decided moments ago, such as those that were not approved yet. */
function queryUndecided<Row extends pg.QueryResultRow>(
  db: Transactional,
  { id }: Pick<Run, 'id'>,
  sql: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  return together(db, async (one) => {
    await prepareSetWork(one, id);
    return one.query<Row>(sql, [...values]);
  });
}

/** Adds audit debts for orders that this load is about to send although they were sent before, with an unknown outcome. */
export function oweForEarlierOrders(db: Queryable, run: Run, settleMs: number): Promise<void> {
  const same = 'k.client_id = s.client_id and k.label = s.label';
  return oweForEarlierSends(db, run, { resource: 'orders', settleMs, runs: `u.job = 'orders'`, same });
}

/** Lets other loads send the orders of an ended load. */
export async function releaseKeys(db: Queryable, run: Run): Promise<void> {
  await db.query('delete from ledger.order_keys where run_id = $1', [run.id]);
}

/** `failed`: loads that could be resumed; one at a time, so that the planner has their statistics. */
async function settleDisowned(db: Queryable, run: Run, failed: readonly string[]): Promise<void> {
  for (const id of failed) {
    await settleRows(db, id, {
      sql: `select i.n, 'review' as verdict, 'ORDER_IN_ANOTHER_LOAD' as reason, null::text as record_id,
          jsonb_build_object('taken', true, 'load', k.run_id) as facts
        from ${ORDERS} join ledger.plans p on p.run_id = i.run_id and p.n = i.n
          join ledger.runs u on u.id = i.run_id and not u.dry_run
          join ledger.order_keys k on k.scope = $3 and k.client_id = ${CUSTOMER} and k.label = i.label and k.run_id = $2
        where i.run_id = $1 and not ${IS_SETTLED}`,
      values: [run.id, run.scope],
    });
  }
}
