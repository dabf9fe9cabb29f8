/** Lets the next piece of work be prepared while the last one is being kept: never more than one is on its way. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface OneBehind {
  /** Waits for the work before, then begins this and returns. @throws what the work before threw */
  begin(work: () => Promise<void>): Promise<void>;
  /** Waits for the last work. @throws what it threw */
  end(): Promise<void>;
}

export function oneBehind(): OneBehind {
  let last: Promise<void> = Promise.resolve();
  return {
    async begin(work) {
      await last;
      last = work();
      last.catch(() => {}); // thrown to whoever begins the next, or ends
      await nextTurn(); // preparing the next leaves no room for anything else: this one has to be on its way by then
    },
    end: () => last,
  };
}
