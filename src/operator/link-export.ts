/** Links of tasks as lines of a CSV, in the form that an import reads. */
import { type LinkCursor, type LinkFilter, listLinks } from '../mirror/links/list-links.ts';
import type { Queryable } from '../storage/queryable.ts';
import { csvLine } from './row-export.ts';

const PER_READ = 1_000;

/** The newest first, with a header. */
export async function* linkLines(db: Queryable, filter: LinkFilter): AsyncGenerator<string> {
  yield csvLine(['task_id', 'item_id', 'target', 'account', 'linked_at', 'run']);
  for (let after: LinkCursor | undefined, isLast = false; !isLast; ) {
    const { links, total } = await listLinks(db, filter, PER_READ, after);
    for (const { task, itemId, target, account, linkedAt, run } of links)
      yield csvLine([task, itemId, target, account, linkedAt.toISOString(), run ?? '']);
    after = links.at(-1);
    isLast = total <= links.length;
  }
}
