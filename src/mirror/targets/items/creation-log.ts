/** What the ledger knows of creations, which cannot simply be repeated: durable, and shared by all processes. */
import type { Delivery, TaskState } from '../../../contract/target.ts';

/** What is created for a task: an item, or a comment with a name of its own. */
export interface Creating {
  readonly account: string;
  readonly task: { readonly kind: string; readonly id: string };
  /** The delivery that creates it. */
  readonly id?: string;
}

export interface CreationLog {
  /** The last creation, sent or not; undefined if there is none. */
  lastOf(what: Creating): Promise<LoggedCreation | undefined>;
  /** Records that a creation is about to be sent, and names it; undefined if another process has begun one since `last`. */
  begin(what: Creating, last: LoggedCreation | undefined): Promise<string | undefined>;
  /** The receiver has said that it accepted the last one. `result`: what it returned. */
  noteTaken(what: Creating, result?: string): Promise<void>;
  /** The last creation created nothing. `at`: only if it is still the last one. */
  forget(what: Creating, at?: string): Promise<void>;
}

export interface LoggedCreation {
  /** Its name. */
  readonly at: string;
  readonly agoMs: number;
  readonly isTaken: boolean;
  readonly result?: string | null;
}

export interface CreatedItem extends Pick<Creating, 'account'> {
  readonly task: Pick<TaskState, 'kind' | 'id'>;
  readonly itemId: string;
}

/** What else is known of items. */
export interface DetailLog extends CreationLog {
  /** The newest item that was created at least this long ago. */
  lastCreated(agoMs: number): Promise<CreatedItem | undefined>;
  /** The last delivery before this one that reached the target, or that its item was created with; undefined if there is none. */
  lastDelivered(delivery: Delivery): Promise<Pick<Delivery, 'id' | 'task'> | undefined>;
}
