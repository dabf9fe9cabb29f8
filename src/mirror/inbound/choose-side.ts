/**
 * Decides what to do if a task and its item are not in the same state. Pure.
 *
 * A state has two values. So if two sides differ, one is in the state in which they last agreed, and the other has moved.
 * The decision depends on that alone, not on the order in which Lockstep learned of it: an echo of our own delivery, a call
 * that arrives late or twice, and a scan that has not run yet do not change it.
 *
 * | the item, compared with its last seen or sent state | the task, compared with the state sent to the item | result |
 * |---|---|---|
 * | has moved     | has not moved | `take`: the task follows the item |
 * | has not moved | has moved     | `keep`: nothing now; the delivery that waits, or the next scan, updates the item |
 * | has not moved | has not moved | `keep`: a delivery or a report was refused; a reconcile repairs the item |
 * | has moved     | has moved     | a conflict: the sync's `onConflict` decides |
 *
 * An item has moved if it differs from the state in which it was last seen, or that was last sent to it. An item that moved
 * and moved back has not moved: calls that say otherwise may be echoes of two deliveries of our own. A task has moved if a
 * delivery waits that sends another state than that, if one has just arrived, if the service contradicts the last scan, or
 * if the last scan contradicts what the item was sent. If an item was never seen and never sent a state, a call proves that
 * it moved. A read that finds it different proves nothing about either side: that is a conflict too.
 *
 * Every decision ends the difference with at most one write on each side: `take` writes the task and sends the change to
 * the other targets; `keep` leaves it to one delivery; a conflict is one of the two. What a write causes (a call back, a
 * changed page of the next scan) finds both sides equal, and nothing further follows.
 */

export interface Difference {
  /** The state of the item; the task has the opposite state. */
  readonly item: boolean;
  /** The state of the task, from the last scan or the last note. */
  readonly known: boolean;
  /** The state in which the item was last seen, or that was last sent to it; undefined: never. */
  readonly lastSeen: boolean | undefined;
  /** A delivery to this target waits that sends another state than `lastSeen`, or one arrived after the report. */
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
