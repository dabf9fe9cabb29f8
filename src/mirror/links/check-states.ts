/**
 * Whether the linked items of a target are read in the states of their tasks. If no item is ever read as completed, or as open, the
 * settings of the target probably name the wrong states, and a poll would complete or reopen tasks.
 */
import type { Finding, ItemState, Target } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { linkKind } from './item-links.ts';

/** Of the completed tasks, and of the open ones. */
const MOST_READ = 5;

export async function checkStates(
  db: Queryable,
  name: string,
  { readItem }: Target,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (readItem === undefined) return [];
  const items: { readonly item: ItemState; readonly ofCompleted: boolean }[] = [];
  for (const { itemId, isCompleted } of await newestLinks(db, name)) {
    const read = await readItem(itemId, { signal });
    if (read.status === 'found' && !read.item.isAlwaysOpen) items.push({ item: read.item, ofCompleted: isCompleted });
  }
  const unseen = [true, false].find(
    (state) =>
      items.some(({ ofCompleted }) => ofCompleted === state) && items.every(({ item }) => item.isCompleted !== state),
  );
  if (items.length === 0) return [];
  const what = 'states of linked items';
  if (unseen === undefined) return [{ what, status: 'ok', detail: 'items are read in the states of their tasks' }];
  const [is, isNot] = unseen ? ['open', 'completed'] : ['completed', 'open'];
  const shown = [...new Set(items.map(({ item }) => `"${item.status}"`))].join(', ');
  const detail = `all ${items.length} items that were read (${shown}) count as ${is}, though some of their tasks are ${isNot}`;
  const remedy = `if one of these items is ${isNot}, correct the states in the settings; otherwise run a reconcile`;
  return [{ what, status: 'problem', detail, remedy }];
}

async function newestLinks(db: Queryable, name: string) {
  const found = await db.query<{ itemId: string; isCompleted: boolean }>(
    `select "itemId", "isCompleted" from (
       select l.record_id as "itemId", c."isCompleted",
         row_number() over (partition by c."isCompleted" order by l.linked_at desc) as n
       from ledger.links l join ledger.tasks t on t.scope = l.scope and t.kind = 'task' and 'task:' || t.task_id = l.source_id
         cross join lateral (select (t.state->'isCompleted')::text = 'true' as "isCompleted") c
       where l.kind = $1 and not t.is_gone) numbered
     where n <= $2 order by "isCompleted" desc, n`,
    [linkKind(name), MOST_READ],
  );
  return found.rows;
}
