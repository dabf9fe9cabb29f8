/** Which task is linked with which item: stored with the ledger's other links, one kind per target. */
import type { TaskState } from '../../contract/target.ts';
import { columnsOf } from '../../storage/columns.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { LINK_COMMENT, linkCommentMarker } from '../targets/items/marker.ts';

/** Identifies a task, a subtask or a card. */
export type Source = Pick<TaskState, 'kind' | 'id'>;

export interface ItemLink {
  readonly scope: string;
  readonly task: Source;
  readonly itemId: string;
  readonly runId: string | undefined;
  /** The id by which the delivery reached the item, if the item has another one now. */
  readonly formerId?: string | undefined;
}

/** The prefix of the target's name in the kind of a link. */
export const ITEM_KIND = 'item:';

/** The kind of link between a task and an item of this target. */
export function linkKind(target: string): string {
  return `${ITEM_KIND}${target}`;
}

/** The name of a task, a subtask or a card in rows of runs and in links. */
export function sourceIdOf({ kind, id }: Source): string {
  return `${kind}:${id}`;
}

/**
 * Links tasks with the items that their deliveries reached. An existing link of the item or of the task stays unchanged,
 * because a person may have made it while the delivery was on its way. Reports that found no link are due again: people may
 * change an item before it is linked. The new revision keeps one that is being applied from ending without the link.
 */
export async function keepItemLinks(db: Queryable, target: string, links: readonly ItemLink[]): Promise<void> {
  if (links.length === 0) return;
  for (const { formerId, itemId } of links) if (formerId !== undefined) await moveItem(db, target, formerId, itemId);
  const rows = links.map(({ task, runId = '', ...link }) => ({ ...link, runId, sourceId: sourceIdOf(task) }));
  await db.query(
    `with linked as (
       insert into ledger.links (scope, kind, source_id, record_id, run_id)
       select scope, $1, source_id, record_id, run_id
       from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as t(scope, source_id, record_id, run_id)
       on conflict do nothing)
     update ledger.item_reports set state = 'waiting', verdict = null, reason = null, detail = null, attempts = 0,
       due_at = clock_timestamp(), ended_at = null, revision = revision + 1
     where target = $6 and item_id = any($4) and (state = 'waiting' or reason = 'NOT_LINKED')`,
    [linkKind(target), ...columnsOf(rows, 'scope', 'sourceId', 'itemId', 'runId'), target],
  );
}

/**
 * An item of the target has a new id: its links, and what is known of its state and comments, move with it. A link stays unchanged if
 * another task of its account is linked with the new id.
 */
export async function moveItem(db: Queryable, target: string, formerId: string, itemId: string): Promise<void> {
  await db.query(
    `update ledger.links l set record_id = $3 where kind = $1 and record_id = $2
       and not exists (select from ledger.links o where o.scope = l.scope and o.kind = l.kind and o.record_id = $3)`,
    [linkKind(target), formerId, itemId],
  );
  await moveLinkComments(db, target, formerId, itemId);
  await db.query(
    `update ledger.item_reports set item_id = $3 where target = $1 and item_id = $2
       and not exists (select from ledger.item_reports where target = $1 and item_id = $3)`,
    [target, formerId, itemId],
  );
}

/** Keeps the records of the comments about these links, under the new markers. `result`: the marker that a comment has. */
async function moveLinkComments(db: Queryable, target: string, formerId: string, itemId: string): Promise<void> {
  const { rows: links } = await db.query<{ scope: string; kind: string; id: string }>(
    `select scope, split_part(source_id, ':', 1) as kind, substr(source_id, strpos(source_id, ':') + 1) as id
     from ledger.links where kind = $1 and record_id = $2`,
    [linkKind(target), itemId],
  );
  const markersBy = (item: string) =>
    links.map(({ scope, ...task }) => linkCommentMarker({ account: scope, task }, item));
  await db.query(
    `insert into ledger.creations (scope, target, source_id, at, is_taken, result)
     select scope, target, $2 || to_marker, at, is_taken, coalesce(result, from_marker)
     from unnest($3::text[], $4::text[], $5::text[]) as t(of, from_marker, to_marker)
     join ledger.creations on scope = of and target = $1 and source_id = $2 || from_marker
     on conflict do nothing`,
    [target, `${LINK_COMMENT}:`, links.map(({ scope }) => scope), markersBy(formerId), markersBy(itemId)],
  );
}
