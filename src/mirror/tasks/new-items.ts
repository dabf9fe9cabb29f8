/**
 * Creates tasks from items that people have created at a target, each once. The description of such a task ends with the name of
 * its item and with a marker: a delivery that comes before the link finds the item by its name, and a creation that was
 * interrupted is found by its marker (targets/service/service-creation.ts).
 *
 * Items are read in the order of their changes. After each run the ledger has the time up to which they were read, and the items
 * that could not become tasks yet. So neither many changes nor an item that cannot become a task keep the others waiting.
 */
import type pg from 'pg';
import { elapsedMs } from '../../base/clock.ts';
import { formatCount } from '../../base/counts.ts';
import type { NewItem, Target, TaskState } from '../../contract/target.ts';
import type { Account } from '../../engine/account/account.ts';
import { addNote, type Run } from '../../engine/ledger/runs.ts';
import { suspendAccount } from '../../engine/ledger/scopes/suspensions.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { keepItemLinks, linkKind } from '../links/item-links.ts';
import { itemsNamedBy } from '../links/named-items.ts';
import { ledgerMoment, noteSeen } from '../links/seen-items.ts';
import type { Creating, DetailLog } from '../targets/items/creation-log.ts';
import { markerUuidOf, newItemOf } from '../targets/items/marker.ts';
import { createCreations } from '../targets/service/service-creation.ts';
import { createSharedLists } from '../targets/service/shared-lists.ts';

export interface NewItemNeeds {
  readonly pool: pg.Pool;
  readonly run: Run;
  readonly account: Account;
  readonly name: string;
  readonly target: Target;
  readonly log: DetailLog;
  readonly signal: AbortSignal;
}

/** A list may show an item some time after its creation. */
const OVERLAP_MS = 10 * 60_000;
/** Creations at once share their reads of the service's list. */
const AT_ONCE = 20;
/** More are not the fault of the items: they are read again, and no later ones before them. */
const MOST_DUE = 100;
const MOST_NAMED = 5;
const LOOK_AFTER_MS = [0, 1_000, 3_000];

/** Items that could not become tasks stay due for the next run, and a note of the run names them. */
export async function createFromNewItems(needs: NewItemNeeds): Promise<void> {
  const { pool, run, name, target, signal } = needs;
  if (target.newItems === undefined) return;
  const last = await lastPoll(pool, run, name);
  const times = last && { baseline: last.baseline, since: new Date(last.since.getTime() - OVERLAP_MS) };
  const readAt = await ledgerMoment(pool);
  const read = await target.newItems(times, { signal });
  if (read.status !== 'read') return addNote(pool, run.id, `${name}: new items were not read: ${read.detail}`);
  if (last === undefined) {
    await endPoll(pool, run, name, { since: read.at, unread: [], due: [] });
    return addNote(pool, run.id, `${name}: its items are the baseline: items created from now on become tasks`);
  }
  const items = new Map([...last.due, ...read.items].map((item) => [item.itemId, item]));
  const due = await withoutTask(needs, [...items.values()]);
  const failed: Failed[] = [];
  // These items are open now: if one is completed when the first delivery of its task arrives, people completed it.
  for (const { itemId } of due) await noteSeen(pool, name, { itemId, isCompleted: false }, readAt);
  const lists = createSharedLists(elapsedMs);
  const createOnce = createCreations({ lists, log: needs.log, nowMs: elapsedMs, lookAfterMs: LOOK_AFTER_MS });
  try {
    for (let at = 0; at < due.length && !signal.aborted; at += AT_ONCE) {
      const some = due.slice(at, at + AT_ONCE);
      const ends = await Promise.all(some.map((item) => createOne(needs, item, createOnce)));
      failed.push(...ends.filter((end) => end !== undefined));
    }
  } finally {
    await lists.close();
  }
  if (signal.aborted) return;
  const unread = read.unread.filter(({ unreadId }) => !last.unread.includes(unreadId));
  const notes = [
    ...failed.map(({ item, why }) => `${item.itemId} did not become a task: ${why}`).slice(0, MOST_NAMED),
    ...unread
      .map(({ unreadId, why }) => `${unreadId} could not be read and did not become a task: ${why}`)
      .slice(0, MOST_NAMED),
  ];
  if (unread.length > MOST_NAMED) notes.push(`${formatCount(unread.length)} new items could not be read`);
  const { at, until = at } = read;
  if (until < at) notes.push(`items that have changed since ${until.toISOString()} are read by the next run`);
  for (const note of notes) await addNote(pool, run.id, `${name}: ${note}`);
  const isDue = new Set(failed.flatMap(({ item, isDue }) => (isDue ? [item.itemId] : [])));
  const since = new Date(Math.min(at.getTime(), until.getTime() + OVERLAP_MS));
  await endPoll(pool, run, name, {
    unread: read.unread.map(({ unreadId }) => unreadId),
    ...(isDue.size > MOST_DUE
      ? { since: last.since, due: last.due.filter(({ itemId }) => isDue.has(itemId)) }
      : { since, due: due.filter(({ itemId }) => isDue.has(itemId)) }),
  });
}

/** `isDue`: the next run tries it again. */
interface Failed {
  readonly item: DueItem;
  readonly why: string;
  readonly isDue: boolean;
}

/** Undefined if the item has its task. */
async function createOne(
  { pool, run, account, name, target, signal }: NewItemNeeds,
  item: DueItem,
  createOnce: ReturnType<typeof createCreations>,
): Promise<Failed | undefined> {
  const { itemId, title, text, dueDate, lastingId = itemId } = item;
  const named = `${escaped(text)}\n\n${target.nameOf?.(itemId) ?? itemId}`.trimStart();
  const endDate = dueDate && `${dueDate}T00:00:00`;
  const made = newItemOf(name, lastingId);
  const task = { ...made, title, description: named, startDate: undefined, endDate, isCompleted: false };
  const suspend = async (why: string) => void (await suspendAccount(pool, run.scope, why));
  const created = await createOnce({ account: run.scope, task }, { ...account, suspend }, signal);
  if (created.status !== 'found') {
    // Its task was created, and a person has deleted it since; or it is the item of a task elsewhere.
    const isDue = created.reason !== 'CREATED_NOT_SHOWN' && created.status !== 'skipped';
    return { item, why: created.detail, isDue };
  }
  const link = { scope: run.scope, task: { kind: 'task', id: created.itemId }, itemId, runId: run.id } as const;
  await keepItemLinks(pool, name, [link]);
  return undefined;
}

/** A description may hold markup, and anyone may have written the item. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Items that are linked with no task, and are on the way to no link: not named by a task, and not created for one. */
async function withoutTask({ pool, run, name, target }: NewItemNeeds, items: readonly DueItem[]) {
  if (items.length === 0) return [];
  const { rows: linked } = await pool.query<{ id: string }>(
    'select record_id as id from ledger.links where scope = $1 and kind = $2 and record_id = any($3)',
    [run.scope, linkKind(name), items.map(({ itemId }) => itemId)],
  );
  const { rows: tasks } = await pool.query<Creating['task']>(
    `select t.kind, t.task_id as id from ledger.tasks t where t.scope = $1 and not exists (select from ledger.links l
       where l.scope = t.scope and l.kind = $2 and l.source_id = t.kind || ':' || t.task_id)`,
    [run.scope, linkKind(name)],
  );
  const { rows: unlinked } = await pool.query<{ task: TaskState }>(
    `select d.task from ledger.deliveries d where d.target = $1 and d.scope = $2
       and (d.state <> 'ended' or d.verdict = 'dead') and not exists (select from ledger.links l
         where l.scope = d.scope and l.kind = $3 and l.source_id = d.kind || ':' || d.task_id)`,
    [name, run.scope, linkKind(name)],
  );
  const known = new Set(linked.map(({ id }) => id));
  for (const task of tasks) known.add(markerUuidOf({ account: run.scope, task }));
  for (const { task } of unlinked) {
    for (const itemId of itemsNamedBy(task, (text) => target.itemsIn?.(text) ?? [])) known.add(itemId);
  }
  return items.filter(({ itemId, lastingId = '' }) => !known.has(itemId) && !known.has(lastingId));
}

/** Where a poll has ended. */
interface Ended {
  readonly since: Date;
  readonly unread: readonly string[];
  readonly due: readonly DueItem[];
}

interface Poll extends Ended {
  readonly baseline: Date;
}

type DueItem = Pick<NewItem, 'itemId' | 'title' | 'text' | 'dueDate' | 'lastingId'>;

function kept({ itemId, title, text, dueDate, lastingId }: DueItem): DueItem {
  return { itemId, title, text, dueDate, lastingId };
}

/** Its times are by the target's clock, so they stay right if the clock of the database is set; undefined in the first poll. */
async function lastPoll(db: Queryable, { scope, sync }: Run, target: string): Promise<Poll | undefined> {
  const found = await db.query<Poll>(
    'select since, baseline, unread, due from ledger.new_items where scope = $1 and sync = $2 and target = $3',
    [scope, sync, target],
  );
  return found.rows[0];
}

async function endPoll(
  db: Queryable,
  { scope, sync }: Run,
  target: string,
  { since, unread, due }: Ended,
): Promise<void> {
  await db.query(
    `insert into ledger.new_items (scope, sync, target, since, baseline, unread, due) values ($1, $2, $3, $4, $4, $5, $6)
     on conflict (scope, sync, target) do update set since = excluded.since, unread = excluded.unread, due = excluded.due`,
    [scope, sync, target, since, unread, JSON.stringify(due.map(kept))],
  );
}
