/** Lists the links between tasks and items, and removes one. */
import type { Queryable } from '../../storage/queryable.ts';
import { ITEM_KIND, linkKind } from './item-links.ts';

export interface LinkFilter {
  readonly target?: string | undefined;
  readonly scope?: string | undefined;
  /** Occurs in the task, such as `task:12`, or in the item. */
  readonly text?: string | undefined;
}

/** The last link of the page before. */
export type LinkCursor = Pick<ListedLink, 'target' | 'account' | 'task'>;

export interface ListedLink {
  readonly target: string;
  readonly account: string;
  /** `task:12`. */
  readonly task: string;
  readonly itemId: string;
  readonly linkedAt: Date;
  /** The run whose delivery reached the item; null if a person made the link. */
  readonly run: string | null;
}

/** The newest first, and how many there are from there on. `limit` is at least 1. */
export async function listLinks(
  db: Queryable,
  { target, scope, text }: LinkFilter,
  limit: number,
  after?: LinkCursor,
): Promise<{ readonly links: readonly ListedLink[]; readonly total: number }> {
  const found = await db.query<ListedLink & { total: number }>(
    `select substr(l.kind, length($1) + 1) as target, l.scope as account, l.source_id as task, l.record_id as "itemId",
       l.linked_at as "linkedAt", nullif(l.run_id, '') as run, count(*) over () as total
     from ledger.links l left join ledger.links a on a.kind = $6 and a.scope = $7 and a.source_id = $8
     where starts_with(l.kind, $1) and ($2::text is null or l.kind = $2) and ($3::text is null or l.scope = $3)
       and ($5::text is null or position(lower($5) in lower(l.source_id)) + position(lower($5) in lower(l.record_id)) > 0)
       and (a.kind is null or l.linked_at < a.linked_at
         or l.linked_at = a.linked_at and (l.kind, l.scope, l.source_id) > (a.kind, a.scope, a.source_id))
     order by l.linked_at desc, l.kind, l.scope, l.source_id limit $4`,
    [
      ITEM_KIND,
      target && linkKind(target),
      scope,
      limit,
      text,
      after && linkKind(after.target),
      after?.account,
      after?.task,
    ],
  );
  return { links: found.rows.map(({ total, ...link }) => link), total: found.rows[0]?.total ?? 0 };
}

export interface RemovedLink {
  /** Null if the target did not say which item it created. */
  readonly itemId: string | null;
  /** The item was created by Lockstep, and the last delivery did not find it: another one may be created. */
  readonly isForgotten: boolean;
}

/**
 * Removes the link of a task, and the record of an item that was created for it and that the last delivery did not find; undefined
 * if there is neither. The record of an item that exists stays: without its link it is found by it, and not created again.
 */
export async function removeLink(
  db: Queryable,
  { target, scope, source }: { readonly target: string; readonly scope: string; readonly source: string },
): Promise<RemovedLink | undefined> {
  const removed = await db.query<RemovedLink>(
    `with link as (
       delete from ledger.links where scope = $1 and kind = $2 and source_id = $3 returning record_id as id),
     last as (
       select verdict, reason from ledger.deliveries
       where scope = $1 and target = $4 and kind || ':' || task_id = $3 and verdict in ('delivered', 'already', 'dead')
       order by ended_at desc limit 1),
     creation as (
       delete from ledger.creations c where scope = $1 and target = $4 and source_id = $3
         and exists (select from last where verdict = 'dead' and reason in ('ITEM_MISSING', 'CREATED_NOT_SHOWN'))
         and coalesce((select id = coalesce(c.result, id) from link), true)
       returning coalesce(result, '') as id)
     select coalesce(link.id, nullif(creation.id, '')) as "itemId", creation.id is not null as "isForgotten"
     from link full join creation on true`,
    [scope, linkKind(target), source, target],
  );
  return removed.rows[0];
}

/** For people. */
export function describeRemoved({ itemId, isForgotten }: RemovedLink, { target, account, task }: LinkCursor): string {
  const unlinked = `${task} of ${account} is no longer linked with ${itemId ?? 'the item created for it'} at ${target}.`;
  return isForgotten
    ? `${unlinked} If the target creates items, its next delivery or a replay creates another one.`
    : unlinked;
}
