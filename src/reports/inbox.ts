/**
 * The inbox: what a target says about its items is written down before anybody is told that it was received. It holds
 * states: of two reports of one item only the newer one is kept, with the mark that they did not say the same.
 */
import type pg from 'pg';
import { inTransaction } from '../database/transaction.ts';
import { plainText } from '../deliveries/plain-text.ts';
import type { Queryable } from '../engine/ledger/runs.ts';
import type { ItemState } from '../targets/target.ts';

/** Longer than the id of any item: nothing can be linked with it. */
const MAX_ITEM_ID = 500;
/** A call that is sent again later than this is too old to be taken in: see targets/item-hook.ts. */
const REMEMBERED = '7 days';

/** Keeps what a genuine call says. `digest` names the call: the same one, sent again, says nothing new. */
export async function keepHook(
  pool: pg.Pool,
  target: string,
  items: readonly ItemState[],
  digest: string,
): Promise<void> {
  if (items.length === 0) return;
  await inTransaction(pool, async (db) => {
    const isNew = await db.query(
      'insert into ledger.hooks_seen (target, digest) values ($1, $2) on conflict do nothing',
      [target, digest],
    );
    if (isNew.rowCount === 1) await keepReports(db, target, items, 'hook');
  });
}

/** Makes reports wait to be applied; to be called in a transaction. */
export async function keepReports(
  db: Queryable,
  target: string,
  items: readonly ItemState[],
  source: 'hook' | 'read',
): Promise<void> {
  const distinct = new Map(items.filter(({ itemId }) => isUsable(itemId)).map((item) => [item.itemId, item]));
  // In one order everywhere, so that two callers wait for one another and never in a circle.
  const kept = [...distinct.values()].sort((a, b) => (a.itemId < b.itemId ? -1 : 1));
  await db.query(
    `insert into ledger.item_reports as r (target, item_id, is_completed, status, source, state)
     select $1, t.*, $5, 'waiting' from unnest($2::text[], $3::bool[], $4::text[]) as t
     on conflict (target, item_id) do update set is_completed = excluded.is_completed, status = excluded.status,
       source = case when r.state = 'waiting' and r.source = 'hook' then 'hook' else excluded.source end,
       has_moved = r.state = 'waiting' and (r.has_moved or r.is_completed <> excluded.is_completed),
       reported_at = clock_timestamp(), revision = r.revision + 1, state = 'waiting', verdict = null, reason = null,
       detail = null, attempts = 0, due_at = clock_timestamp(), ended_at = null`,
    [
      target,
      kept.map(({ itemId }) => itemId),
      kept.map(({ isCompleted }) => isCompleted),
      kept.map(({ status }) => plainText(status)),
      source,
    ],
  );
}

/** Forgets calls that came in long ago. */
export async function pruneHooks(db: Queryable): Promise<void> {
  await db.query(`delete from ledger.hooks_seen where seen_at < clock_timestamp() - interval '${REMEMBERED}'`);
}

function isUsable(itemId: string): boolean {
  return itemId !== '' && itemId.length <= MAX_ITEM_ID && !itemId.includes('\0');
}
