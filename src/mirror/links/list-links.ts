/** Lists the links between tasks and items, and removes one. */
import type { Queryable } from '../../storage/queryable.ts';
import { ITEM_KIND, linkKind } from './item-links.ts';

export interface LinkFilter {
  readonly target?: string | undefined;
  readonly scope?: string | undefined;
}

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

/** The newest first, and the total number. `limit` is at least 1. */
export async function listLinks(
  db: Queryable,
  { target, scope }: LinkFilter,
  limit: number,
): Promise<{ readonly links: readonly ListedLink[]; readonly total: number }> {
  const found = await db.query<ListedLink & { total: number }>(
    `select substr(kind, length($1) + 1) as target, scope as account, source_id as task, record_id as "itemId",
       linked_at as "linkedAt", nullif(run_id, '') as run, count(*) over () as total
     from ledger.links
     where starts_with(kind, $1) and ($2::text is null or kind = $2) and ($3::text is null or scope = $3)
     order by linked_at desc, kind, scope, source_id limit $4`,
    [ITEM_KIND, target === undefined ? null : linkKind(target), scope ?? null, limit],
  );
  return { links: found.rows.map(({ total, ...link }) => link), total: found.rows[0]?.total ?? 0 };
}

/** The item that the task was linked with; undefined if there was none. */
export async function removeLink(
  db: Queryable,
  { target, scope, source }: { readonly target: string; readonly scope: string; readonly source: string },
): Promise<string | undefined> {
  const removed = await db.query<{ itemId: string }>(
    `delete from ledger.links where scope = $1 and kind = $2 and source_id = $3 returning record_id as "itemId"`,
    [scope, linkKind(target), source],
  );
  return removed.rows[0]?.itemId;
}
