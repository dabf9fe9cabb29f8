/**
 * The inbox: reports about items are stored before their senders receive an answer. It holds states: of two reports of one
 * item it keeps only the newer one, and marks whether they contradicted each other.
 */
import type pg from 'pg';
import type { ReportedItem } from '../../contract/target.ts';
import { columnsOf } from '../../storage/columns.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { moveItem } from '../links/item-links.ts';
import { plainText } from '../outbox/plain-text.ts';

/** Longer than any item id, so nothing can be linked with it. */
const MAX_ITEM_ID = 500;

/**
 * Stores a genuine call. `digest` identifies the call: a repeated call stores nothing. Without one every call is stored, because
 * an item may come to the same state again.
 */
export async function keepHook(
  pool: pg.Pool,
  target: string,
  items: readonly ReportedItem[],
  digest: string | undefined,
): Promise<void> {
  if (items.length === 0) return;
  await inTransaction(pool, async (db) => {
    if (digest !== undefined && !(await noteCall(db, target, digest))) return;
    for (const { itemId, formerIds = [] } of items)
      for (const formerId of formerIds) await moveItem(db, target, formerId, itemId);
    await keepReports(db, target, items, 'hook');
  });
}

/** False if the call was noted before. */
async function noteCall(db: Queryable, target: string, digest: string): Promise<boolean> {
  const noted = await db.query(
    'insert into ledger.hooks_seen (target, digest) values ($1, $2) on conflict do nothing',
    [target, digest],
  );
  return noted.rowCount === 1;
}

/** Queues reports to be applied; must be called in a transaction. */
export async function keepReports(
  db: Queryable,
  target: string,
  items: readonly ReportedItem[],
  source: 'hook' | 'read',
): Promise<void> {
  const usable = items.filter(({ itemId }) => isUsable(itemId));
  const distinct = new Map(usable.map((item) => [item.itemId, { ...item, status: plainText(item.status) }]));
  // Always in the same order, so that two callers cannot deadlock.
  const kept = [...distinct.values()].sort((a, b) => (a.itemId < b.itemId ? -1 : 1));
  await db.query(
    `insert into ledger.item_reports as r (target, item_id, is_completed, status, source, state)
     select $1, t.*, $5, 'waiting' from unnest($2::text[], $3::bool[], $4::text[]) as t
     on conflict (target, item_id) do update set is_completed = excluded.is_completed, status = excluded.status,
       source = case when r.state = 'waiting' and r.source = 'hook' then 'hook' else excluded.source end,
       has_moved = r.state = 'waiting' and (r.has_moved or r.is_completed is distinct from excluded.is_completed),
       reported_at = clock_timestamp(), revision = r.revision + 1, state = 'waiting', verdict = null, reason = null,
       detail = null, attempts = 0, due_at = clock_timestamp(), ended_at = null`,
    [target, ...columnsOf(kept, 'itemId', 'isCompleted', 'status'), source],
  );
}

const OLD_HOOKS = `ledger.hooks_seen where seen_at < clock_timestamp() - $1::float8 * interval '1 ms'`;

/** Deletes the records of calls that were received longer ago than this; returns how many. */
export async function pruneHooks(db: Queryable, olderThanMs: number): Promise<number> {
  return (await db.query(`delete from ${OLD_HOOKS}`, [olderThanMs])).rowCount ?? 0;
}

/** How many records of calls would be deleted. */
export async function countOldHooks(db: Queryable, olderThanMs: number): Promise<number> {
  const counted = await db.query<{ n: number }>(`select count(*)::int as n from ${OLD_HOOKS}`, [olderThanMs]);
  return counted.rows[0]?.n ?? 0;
}

function isUsable(itemId: string): boolean {
  return itemId !== '' && itemId.length <= MAX_ITEM_ID && !itemId.includes('\0');
}
