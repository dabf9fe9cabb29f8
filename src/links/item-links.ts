/** Which task here is which item there: kept with the ledger's other links, one kind a target. */
import type { Queryable } from '../engine/ledger/runs.ts';
import type { TaskState } from '../targets/target.ts';

/** What names a task, a subtask or a card. */
export type Source = Pick<TaskState, 'kind' | 'id'>;

export interface ItemLink {
  readonly scope: string;
  readonly task: Source;
  readonly itemId: string;
  readonly runId: string | undefined;
}

/** Before the name of a target, in the kind of a link. */
export const ITEM_KIND = 'item:';

/** The kind of link between a task and an item of this target. */
export function linkKind(target: string): string {
  return `${ITEM_KIND}${target}`;
}

/** How rows of runs and links name a task, a subtask or a card. */
export function sourceIdOf({ kind, id }: Source): string {
  return `${kind}:${id}`;
}

/**
 * Links tasks with the items that deliveries came to. What is linked already stays as it is: an item with its task, and a
 * task with its item, because a person may have linked it while the delivery was on its way.
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
