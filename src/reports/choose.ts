/**
 * What follows when a task and its item are not in the same state. Pure.
 *
 * A state has two values, so of two sides that differ one is where it was when they last agreed, and one has moved. That
 * is what decides, not the order in which somebody heard of it: an echo of our own delivery, a call that comes late or
 * twice, and a scan that has not yet looked change nothing about it.
 *
 * | the item, against what it was last seen or told | the task, against what the item was told | what follows |
 * |---|---|---|
 * | has moved     | has not moved | `take`: the task follows the item |
 * | has not moved | has moved     | `keep`: nothing now; the delivery that waits, or the next scan, moves the item |
 * | has not moved | has not moved | `keep`: a delivery was refused, or a report was; a reconcile repairs it |
 * | has moved     | has moved     | a conflict: the sync's `onConflict` decides |
 *
 * An item has moved where it is not what it was last seen or told to be. That it went there and back is no move: the
 * calls that say so may be echoes of two deliveries of our own. A task has moved where a delivery of it waits or has only just arrived, where the service says
 * otherwise than the last scan, and where the last scan says otherwise than the item was told. Of an item that nobody
 * has ever seen or told, a call is the proof that it moved; a read that finds it different proves nothing of either
 * side, which is a conflict as well.
 *
 * Every answer ends the difference with at most one write on each side: `take` writes the task and tells the other
 * targets; `keep` leaves it to one delivery; a conflict is one of the two. What a write causes (a call back, a
 * changed page of the next scan) finds both sides equal, and ends there.
 */

export interface Difference {
  /** What the item is; the task is the opposite. */
  readonly item: boolean;
  /** What the last scan, or the last note, says of the task. */
  readonly known: boolean;
  /** What the item was last seen or told to be; undefined: never. */
  readonly lastSeen: boolean | undefined;
  /** A delivery of the task to this target waits, or arrived after the report. */
  readonly isTelling: boolean;
  readonly source: 'hook' | 'read';
}

export type Choice = 'take' | 'keep' | 'conflict';

export function choose({ item, known, lastSeen, isTelling, source }: Difference): Choice {
  const task = !item;
  if (lastSeen === undefined && source === 'read') return 'conflict';
  const itemMoved = lastSeen === undefined || item !== lastSeen;
  const taskMoved = isTelling || task !== known || (lastSeen !== undefined && known !== lastSeen);
  if (!itemMoved) return 'keep';
  return taskMoved ? 'conflict' : 'take';
}
