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
      target === undefined ? null : linkKind(target),
      scope ?? null,
      limit,
      text ?? null,
      after ? linkKind(after.target) : null,
      after?.account ?? null,
      after?.task ?? null,
    ],
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
