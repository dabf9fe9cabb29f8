/** Which task is linked with which item: stored with the ledger's other links, one kind per target. */

import type { TaskState } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';

/** Identifies a task, a subtask or a card. */
export type Source = Pick<TaskState, 'kind' | 'id'>;

export interface ItemLink {
  readonly scope: string;
  readonly task: Source;
  readonly itemId: string;
  readonly runId: string | undefined;
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
 * because a person may have made it while the delivery was on its way.
 */
export async function keepItemLinks(db: Queryable, target: string, links: readonly ItemLink[]): Promise<void> {
  if (links.length === 0) return;
  await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id)
     select scope, $1, source_id, record_id, run_id
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as t(scope, source_id, record_id, run_id)
     on conflict do nothing`,
    [
      linkKind(target),
      links.map(({ scope }) => scope),
      links.map(({ task }) => sourceIdOf(task)),
      links.map(({ itemId }) => itemId),
      links.map(({ runId }) => runId ?? ''),
    ],
  );
}
