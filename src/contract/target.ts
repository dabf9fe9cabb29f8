/**
 * What every outside system is behind: one file each, one contract. A target is given the state that a task has, makes its
 * own side agree with it, and says what came of it. Retrying, order, pace and dead letters are none of its business.
 */

/** The state of a task, subtask or pipeline card, as targets receive it. */
export interface TaskState {
  readonly kind: 'task' | 'subtask' | 'card';
  /** The service's id. */
  readonly id: string;
  readonly title: string;
  /** May hold HTML markup; empty where there is none. */
  readonly description: string;
  /** What it is in the service: open or completed. Of a card, the name of its column. */
  readonly status: string;
  readonly isCompleted: boolean;
  /** It is no longer at the service; the rest says what it last was. */
  readonly isGone: boolean;
  /** As the service writes them: YYYY-MM-DDTHH:MM:SS without an offset. */
  readonly startDate: string | undefined;
  readonly endDate: string | undefined;
  /** Of a subtask, its task; of a card, its pipeline. */
  readonly parentId: string | undefined;
}

export type TaskEvent = 'created' | 'completed' | 'reopened' | 'changed' | 'gone';

/** One delivery: the state of one task, on its way to one target. */
export interface Delivery {
  /** The same over all attempts and replays. */
  readonly id: string;
  readonly account: string;
  /** Ascending per task: a receiver that has seen a higher one may ignore this. */
  readonly sequence: number;
  readonly event: TaskEvent;
  /** When the change was seen; never the receiver's clock. */
  readonly seenAt: Date;
  readonly task: TaskState;
  /** The outside item that the task is linked with, by the target's own naming; undefined where there is none. */
  readonly itemId: string | undefined;
}

/** What a target answered, for the dead letter: never a secret, never more than a few hundred characters. */
export interface TargetAnswer {
  readonly httpStatus?: number;
  readonly text?: string;
}

export type DeliveryOutcome = { readonly answer?: TargetAnswer } & (
  | { readonly status: 'delivered'; readonly detail?: string; readonly itemId?: string }
  /** Read first, and found in that state: nothing was written. */
  | { readonly status: 'already'; readonly detail?: string; readonly itemId?: string }
  /** There is nothing at this target for it, such as no linked item. */
  | { readonly status: 'skipped'; readonly reason: string; readonly detail: string }
  /** May work later. `isLimited`: the target told to slow down; no attempt is spent and its other deliveries wait as well. */
  | {
      readonly status: 'later';
      readonly reason: string;
      readonly detail: string;
      readonly retryAfterMs?: number;
      readonly isLimited?: boolean;
    }
  /** Trying again would not help: a dead letter, until a person has fixed the cause and replays it. */
  | { readonly status: 'refused'; readonly reason: string; readonly detail: string }
  /** Nothing will be accepted any more, of any task: a receiver that is gone, a token that was revoked. */
  | { readonly status: 'disabled'; readonly reason: string; readonly detail: string }
);

export type TargetFailure = Extract<DeliveryOutcome, { status: 'later' | 'refused' | 'disabled' }>;

/** What an outside item says about itself. */
export interface ItemState {
  readonly itemId: string;
  readonly isCompleted: boolean;
  /** By the outside system's own naming, for people. */
  readonly status: string;
}

export type ItemRead =
  | { readonly status: 'found'; readonly item: ItemState }
  | { readonly status: 'missing' }
  | TargetFailure;

/** An inbound call, as the web server received it. */
export interface HookRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export type HookVerdict =
  /**
   * Genuine; the items that it tells of, none where it is about something else. `id`: the sender's own name for the call,
   * where it is signed together with the body.
   */
  | { readonly status: 'accepted'; readonly items: readonly ItemState[]; readonly id?: string }
  | { readonly status: 'refused'; readonly httpStatus: 400 | 401; readonly reason: string };

export interface CallContext {
  /** Aborts when the process shuts down or the time of this delivery is over. */
  readonly signal: AbortSignal;
}

export interface Target {
  /** Makes the target agree with the delivery's task. Rejects for defects only. */
  deliver(delivery: Delivery, context: CallContext): Promise<DeliveryOutcome>;
  /** Of targets with items: what one of them says now. */
  readonly readItem?: (itemId: string, context: CallContext) => Promise<ItemRead>;
  /** Of targets with items: those that a text names, such as ABC-12 or the address of an issue. */
  readonly itemsIn?: (text: string) => readonly string[];
  /** Of targets that call back: is the call genuine, and what does it say? */
  readonly readHook?: (request: HookRequest, now: Date) => Promise<HookVerdict>;
  close(): Promise<void>;
}
