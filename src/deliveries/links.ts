/** Which task here is which item there: kept with the ledger's other links, one kind a target. */
import type { Queryable } from '../ledger/runs.ts';
import type { TaskState } from '../targets/target.ts';

export interface ItemLink {
  readonly account: string;
  readonly task: Pick<TaskState, 'kind' | 'id'>;
  readonly itemId: string;
  readonly runId: string | undefined;
}

/** The kind of link between a task and an item of this target. */
export function linkKind(target: string): string {
  return `item:${target}`;
}

/** How rows of runs and links name a task, a subtask or a card. */
export function sourceIdOf({ kind, id }: Pick<TaskState, 'kind' | 'id'>): string {
  return `${kind}:${id}`;
}

/** Links tasks with the items that deliveries came to; an item that another task is linked with stays that one's. */
export async function keepItemLinks(db: Queryable, target: string, links: readonly ItemLink[]): Promise<void> {
  for (const { account, task, itemId, runId } of links) {
    await db.query(
      `insert into ledger.links (account, kind, source_id, record_id, run_id)
       select $1, $2, $3, $4, $5 where not exists (select from ledger.links
         where account = $1 and kind = $2 and record_id = $4 and source_id <> $3)
       on conflict (account, kind, source_id) do update set record_id = excluded.record_id, run_id = excluded.run_id,
         linked_at = now() where ledger.links.record_id <> excluded.record_id`,
      [account, linkKind(target), sourceIdOf(task), itemId, runId ?? ''],
    );
  }
}
