/**
 * Reads linked items back, a few at a time: an item that has changed at a target becomes a report, and an item that differs
 * from its task without that (a drifted item) is repaired. The items that were read longest ago come first, so all are read.
 *
 * | the item differs from its task, and | polled, or `onConflict` is the target | reconciled otherwise |
 * |---|---|---|
 * | a delivery waits or is on its way | left to the delivery, or a report if the item has moved | left to the delivery |
 * | it has moved since it was last seen or sent a state | a report | repaired |
 * | it has not moved | repaired by a reconcile, otherwise left unchanged | repaired |
 *
 * An item that is always open, because it recurs, does not differ from a completed task.
 */
import type pg from 'pg';
import { z } from 'zod';
import { firstOf } from '../../base/counts.ts';
import type { ItemRead, Target } from '../../contract/target.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { linkKind, moveItem } from '../links/item-links.ts';
import { isNewsToOthers, ledgerMoment, noteRead, noteSeen } from '../links/seen-items.ts';
import type { TasksOptions } from '../tasks/options.ts';
import { keepReports } from './inbox.ts';
import { isLimit, type Link, type LinkRead, portionOf, readLinks } from './read-linked.ts';
import { repairItem } from './repair.ts';
import { readSides, stateBefore } from './sides.ts';

/** A poll reads at most this many items of a target in one run. */
const MOST_POLLED = 500;
/** A note names this many items and counts the others. */
const MOST_NAMED = 10;
/** The same for items that are named with a reason. */
const MOST_EXPLAINED = 3;

type Wishes = Pick<TasksOptions, 'targets' | 'poll' | 'pollShare' | 'reconcile' | 'onConflict'>;

export function readsItems({ poll, reconcile }: Pick<Wishes, 'poll' | 'reconcile'>): boolean {
  return poll.length > 0 || reconcile;
}

/** The targets whose items a run reads. */
export function targetsToRead({ targets, poll, reconcile }: Wishes): readonly string[] {
  return reconcile ? targets : poll;
}

const counted = z.object({
  /** How many items this run reads. */
  wanted: z.number(),
  read: z.number(),
  diverged: z.array(z.string()),
  divergedCount: z.number(),
  reported: z.number(),
  missing: z.array(z.string()),
  missingCount: z.number(),
  /** Items that the target did not show, each with its reason. Checkpoints of earlier versions have none. */
  failed: z.array(z.string()).default([]),
  failedCount: z.number().default(0),
  /** Why the others were not read. */
  stopped: z.string().optional(),
  isOver: z.boolean(),
});
export type Counted = z.infer<typeof counted>;

/** How far a run has come, by target, as its checkpoint stores it. Checkpoints of earlier versions name no job. */
export const readCheckpoint = z.object({
  job: z.literal('tasks').default('tasks'),
  items: z.record(z.string(), counted).default({}),
});

export interface ReadBack {
  readonly pool: pg.Pool;
  readonly run: Run;
  readonly options: Wishes;
  readonly exclusive: Exclusive;
  readonly name: string;
  readonly target: Target;
  readonly signal: AbortSignal;
}

export type PortionRead =
  | { readonly status: 'read'; readonly counted: Counted }
  /** The target asks for a short pause. */
  | { readonly status: 'limited'; readonly counted: Counted; readonly afterMs: number };

const LIMITED_MS = 30_000;
/** After a longer pause, the next run reads the rest: a run that waits stops the whole sync. */
const LONGEST_WAIT_MS = 10_000;

export async function countItems(db: Queryable, run: Run, name: string, options: Wishes): Promise<Counted> {
  const found = await db.query<{ n: number }>(
    `select count(*)::int as n from ledger.links where scope = $1 and kind = $2 and source_id like 'task:%'`,
    [run.scope, linkKind(name)],
  );
  const all = found.rows[0]?.n ?? 0;
  const wanted = options.reconcile ? all : Math.min(MOST_POLLED, Math.ceil(all * options.pollShare));
  const none = {
    diverged: [],
    divergedCount: 0,
    reported: 0,
    missing: [],
    missingCount: 0,
    failed: [],
    failedCount: 0,
  };
  return { wanted, read: 0, ...none, isOver: wanted === 0 };
}

/** Reads the next few items of a target and stores the results. `keep` writes the progress in the same transaction. */
export async function readPortion(
  needs: ReadBack,
  before: Counted,
  keep: (db: Queryable, counted: Counted) => Promise<void>,
): Promise<PortionRead> {
  const { pool, run, name, target, signal, exclusive } = needs;
  const links = await nextLinks(pool, run, name, Math.min(portionOf(target), before.wanted - triedOf(before)));
  if (links.length === 0 || target.readItem === undefined) {
    const over = { ...before, isOver: true };
    await exclusive.transaction((db) => keep(db, over));
    return { status: 'read', counted: over };
  }
  const at = await ledgerMoment(pool);
  const { reads, isFailing } = await readLinks(target, links, signal);
  const { stopped, pauseMs } = endOf(reads, isFailing);
  return exclusive.transaction(async (db) => {
    let after = before;
    for (const { link, read } of reads) {
      if (read.status === 'disabled' || isLimit(read)) continue;
      const itemId = read.status === 'found' ? read.item.itemId : link.itemId;
      if (itemId !== link.itemId) await moveItem(db, name, link.itemId, itemId);
      const linked = { ...link, itemId };
      await noteRead(db, name, itemId);
      after = count(after, linked, await keepRead(db, needs, linked, read, at));
    }
    const isOver = triedOf(after) >= after.wanted || stopped !== undefined;
    const counted = { ...after, ...(stopped !== undefined && { stopped }), isOver };
    await keep(db, counted);
    return pauseMs === undefined || isOver
      ? { status: 'read', counted }
      : { status: 'limited', counted, afterMs: pauseMs };
  });
}

/** `stopped`: why the run reads no more items of the target. `pauseMs`: it reads more after a short pause. */
function endOf(
  reads: readonly LinkRead[],
  isFailing: boolean,
): { readonly stopped?: string; readonly pauseMs?: number } {
  const failures = reads.flatMap(({ read }) => ('detail' in read ? [read] : []));
  const stop = failures.find(({ status }) => status === 'disabled') ?? (isFailing ? failures.at(-1) : undefined);
  if (stop !== undefined) return { stopped: stop.detail };
  const limit = failures.findLast(isLimit);
  if (limit === undefined) return {};
  const pauseMs = limit.retryAfterMs ?? LIMITED_MS;
  return pauseMs <= LONGEST_WAIT_MS ? { pauseMs } : { stopped: limit.detail };
}

/** The notes of a run about the items of a target that it has read. */
export function readBackNotes(
  name: string,
  counted: Counted,
  { reconcile }: Pick<Wishes, 'reconcile'>,
): readonly string[] {
  const { read, wanted, diverged, divergedCount, reported, missing, missingCount, failed, failedCount, stopped } =
    counted;
  const remedy = reconcile || divergedCount === 0 ? '' : '; a run with --reconcile repairs them';
  const words = [
    `${name}: ${divergedCount} of ${read} items differed from their tasks${named(diverged, divergedCount)}${remedy}`,
  ];
  if (reported > 0) words.push(`${name}: ${reported} of ${read} items had changed at the target`);
  if (missingCount > 0)
    words.push(
      `${name}: ${missingCount} of ${read} items could not be found${named(missing, missingCount)}; their links are kept`,
    );
  if (failedCount > 0)
    words.push(`${name}: ${failedCount} of ${wanted} items could not be read${named(failed, failedCount, '; ')}`);
  const left = wanted - triedOf(counted);
  if (stopped !== undefined && left > 0)
    words.push(`${name}: the next run begins with the items that were not read (${left}): ${stopped}`);
  return words;
}

function triedOf({ read, failedCount }: Counted): number {
  return read + failedCount;
}

function named(names: readonly string[], total: number, between?: string): string {
  return total === 0 ? '' : `: ${firstOf(names, total, between)}`;
}

async function nextLinks(db: Queryable, run: Run, name: string, limit: number): Promise<readonly Link[]> {
  const found = await db.query<Link>(
    `select substr(l.source_id, length('task:') + 1) as "taskId", l.record_id as "itemId"
     from ledger.links l left join ledger.item_reports r on r.target = $2 and r.item_id = l.record_id
     where l.scope = $1 and l.kind = $3 and l.source_id like 'task:%'
       and (r.read_at is null or r.read_at < (select created_at from ledger.runs where id = $4))
     order by r.read_at nulls first, l.source_id limit $5`,
    [run.scope, name, linkKind(name), run.id, limit],
  );
  return found.rows;
}

/** The last: why the item could not be read. */
type Finding = 'agrees' | 'diverged' | 'reported' | 'missing' | { readonly failed: string };
type Answer = Exclude<ItemRead, { status: 'disabled' }>;

async function keepRead(
  db: Queryable,
  { run, options, name }: ReadBack,
  { taskId, itemId }: Link,
  read: Answer,
  at: string,
): Promise<Finding> {
  if (read.status === 'missing') return 'missing';
  if (read.status !== 'found') return { failed: read.detail };
  const item = { ...read.item, itemId };
  const task = { scope: run.scope, sync: run.sync, kind: 'task', id: taskId } as const;
  const sides = await readSides(db, { target: name, itemId }, task, { at });
  const { known, waiting, isSending, isToldSince } = sides;
  if (known === undefined || known.state.isGone || isSending || isToldSince) return 'agrees';
  if (known.state.isCompleted === item.isCompleted) {
    // The report settles the tasks of the other accounts too, before the state counts as seen.
    if (await isNewsToOthers(db, { target: name, scope: run.scope }, item)) await keepReports(db, name, [item], 'read');
    else await noteSeen(db, name, item, at);
    return 'agrees';
  }
  if (item.isAlwaysOpen) return 'agrees';
  const hasMoved = stateBefore(sides, item.isCompleted) !== item.isCompleted;
  const isReport = options.poll.includes(name) || options.onConflict === 'target';
  if (hasMoved && isReport) {
    await keepReports(db, name, [item], 'read');
    return 'reported';
  }
  if (waiting.length > 0) return 'agrees';
  if (options.reconcile) {
    await noteSeen(db, name, item, at);
    await repairItem(db, run, name, known);
  }
  return 'diverged';
}

function count(before: Counted, { taskId, itemId }: Link, finding: Finding): Counted {
  const name = `${itemId} (task ${taskId})`;
  if (typeof finding === 'object') {
    const { failed, failedCount } = before;
    const explained = failed.length < MOST_EXPLAINED ? [...failed, `${name}: ${finding.failed}`] : failed;
    return { ...before, failed: explained, failedCount: failedCount + 1 };
  }
  const after = { ...before, read: before.read + 1 };
  const withName = (names: string[]) => (names.length < MOST_NAMED ? [...names, name] : names);
  switch (finding) {
    case 'agrees':
      return after;
    case 'reported':
      return { ...after, reported: after.reported + 1 };
    case 'diverged':
      return { ...after, divergedCount: after.divergedCount + 1, diverged: withName(after.diverged) };
    case 'missing':
      return { ...after, missingCount: after.missingCount + 1, missing: withName(after.missing) };
    default:
      return finding satisfies never;
  }
}
