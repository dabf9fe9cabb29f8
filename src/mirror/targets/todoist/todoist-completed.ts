/**
 * The completed tasks of Todoist: they cannot be read by their ids, only in a list, which is read once for many items; after
 * that, only what was completed since.
 */
import { z } from 'zod';
import { type Calls, isoSeconds, mapAsked } from '../items/item-calls.ts';
import { findInPages } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { endsWith } from '../items/item-text.ts';
import { id, TASKS, todoistList } from './todoist-pages.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** With a day into the future, a little less than the three months that a query may cover. */
const COMPLETED_WITHIN_MS = 88 * DAY_MS;
/** After this the list of completed tasks is read again from its beginning. */
const COMPLETED_KEPT_MS = 10 * 60_000;
/** Queries reach this much further in both directions: this machine's clock may be wrong, and the end of the list may lag behind. */
const OVERLAP_MS = DAY_MS;

const completedTask = z.object({ id, description: z.string().nullish() });

/** The id of the task whose description ends with this marker, of those that were completed since then. */
export async function findCompleted(
  calls: Calls,
  marker: string,
  since: Date,
  now: Date,
): Promise<Asked<string | undefined>> {
  const sinceMs = Math.max(since.getTime(), now.getTime() - COMPLETED_WITHIN_MS);
  const completed = completedSince(calls, sinceMs, now.getTime());
  const finding = findInPages(completed, ({ description }) => endsWith(description, marker));
  return mapAsked(finding, ({ found }) => found?.id);
}

function completedSince(calls: Calls, sinceMs: number, untilMs: number) {
  const query = { since: isoSeconds(new Date(sinceMs)), until: isoSeconds(new Date(untilMs + OVERLAP_MS)) };
  return todoistList(calls, `${TASKS}/completed/by_completion_date`, completedTask, query);
}

export interface CompletedTasks {
  /** Whether an item that is not active is completed. */
  has(calls: Calls, itemId: string): Promise<Asked<boolean>>;
}

export function openCompleted(now: () => Date): CompletedTasks {
  let known = { ids: new Set<string>(), startedMs: Number.NEGATIVE_INFINITY, untilMs: Number.NEGATIVE_INFINITY };
  let reading: Promise<Asked<unknown>> | undefined;

  async function read(calls: Calls): Promise<Asked<unknown>> {
    const nowMs = now().getTime();
    const isFresh = nowMs - known.startedMs < COMPLETED_KEPT_MS;
    const before = isFresh ? known : { ids: new Set<string>(), startedMs: nowMs, untilMs: nowMs - COMPLETED_WITHIN_MS };
    const ids = new Set(before.ids);
    const sinceMs = isFresh ? before.untilMs - OVERLAP_MS : before.untilMs;
    const asked = await findInPages(completedSince(calls, sinceMs, nowMs), (each) => ids.add(each.id) === undefined);
    if (asked.status === 'ok') known = { ids, startedMs: before.startedMs, untilMs: nowMs };
    return asked;
  }

  return {
    async has(calls, itemId) {
      const isFresh = now().getTime() - known.startedMs < COMPLETED_KEPT_MS;
      if (isFresh && known.ids.has(itemId)) return { status: 'ok', value: true };
      // It may have begun before this item was completed.
      const earlier = await reading;
      if (earlier !== undefined && (earlier.status !== 'ok' || known.ids.has(itemId)))
        return mapAsked(earlier, () => true);
      reading ??= read(calls).finally(() => {
        reading = undefined;
      });
      return mapAsked(reading, () => known.ids.has(itemId));
    },
  };
}
