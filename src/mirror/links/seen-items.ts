/** What was read of items, by item: when each was read last, and in which state it certainly was. */
import type { Queryable } from '../../storage/queryable.ts';
import { linkKind } from './item-links.ts';

/** Marks the item as read, or tried: the others come before it. An item that no report has named gets its row now. */
export async function noteRead(db: Queryable, target: string, itemId: string): Promise<void> {
  await db.query(
    `insert into ledger.item_reports (target, item_id, is_completed, status, source, state, verdict, ended_at, read_at)
     values ($1, $2, false, '', 'read', 'ended', 'same', clock_timestamp(), clock_timestamp())
     on conflict (target, item_id) do update set read_at = excluded.read_at`,
    [target, itemId],
  );
}

/** The database's clock as text, because a Date would round it to another moment. */
export async function ledgerMoment(db: Queryable): Promise<string> {
  const found = await db.query<{ at: string }>('select clock_timestamp()::text as at');
  return found.rows[0]?.at ?? '';
}

/**
 * Whether the item was last seen in another state, or never, and a task of another account that is linked with it is in another
 * state. What is noted of an item counts for the tasks of all accounts.
 */
export async function isNewsToOthers(
  db: Queryable,
  { target, scope }: { readonly target: string; readonly scope: string },
  { itemId, isCompleted }: { readonly itemId: string; readonly isCompleted: boolean },
): Promise<boolean> {
  const found = await db.query(
    `select from ledger.links l left join ledger.item_reports r on r.target = $1 and r.item_id = l.record_id
     where l.scope in (select id from ledger.scopes where id <> $2) and l.kind = $3 and l.record_id = $4
       and r.seen_completed is distinct from $5
       and exists (select from ledger.tasks t where t.scope = l.scope and t.kind = split_part(l.source_id, ':', 1)
         and t.task_id = substr(l.source_id, strpos(l.source_id, ':') + 1)
         and (t.state->'isCompleted')::text <> ($5::bool)::text)`,
    [target, scope, linkKind(target), itemId, isCompleted],
  );
  return found.rowCount !== 0;
}

/** `at`: a moment of the database's clock, before the item was read. Ignored if it was seen later. */
export async function noteSeen(
  db: Queryable,
  target: string,
  { itemId, isCompleted }: { readonly itemId: string; readonly isCompleted: boolean },
  at: string,
): Promise<void> {
  await db.query(
    `insert into ledger.item_reports as r (target, item_id, is_completed, status, source, state, verdict, ended_at, seen_completed, seen_at)
     values ($1, $2, $3, '', 'read', 'ended', 'same', clock_timestamp(), $3, $4)
     on conflict (target, item_id) do update set seen_completed = excluded.seen_completed, seen_at = excluded.seen_at
       where r.seen_at is null or r.seen_at < excluded.seen_at`,
    [target, itemId, isCompleted, at],
  );
}
