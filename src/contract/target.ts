/**
 * The interface of every outside system; each has one file. A target receives the state of a task, updates its own side
 * to match, and returns the outcome. Retries, order, pace and dead letters are handled by the outbox.
 */

export const TASK_KINDS = ['task', 'subtask', 'card'] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** The state of a task, subtask or pipeline card, as targets receive it. */
export interface TaskState {
  readonly kind: TaskKind;
  /** The service's id. */
  readonly id: string;
  readonly title: string;
  /** May hold HTML markup; empty where there is none. */
  readonly description: string;
  /** Its status in the service: open or completed, or for a card the name of its column. */
  readonly status: string;
  readonly isCompleted: boolean;
  /** It no longer exists at the service; the other members are its last known state. */
  readonly isGone: boolean;
  /** As the service writes them: YYYY-MM-DDTHH:MM:SS without an offset. */
  readonly startDate: string | undefined;
  readonly endDate: string | undefined;
  /** For a subtask its task, for a card its pipeline. */
  readonly parentId: string | undefined;
}

export const TASK_EVENTS = ['created', 'completed', 'reopened', 'changed', 'gone'] as const;
export type TaskEvent = (typeof TASK_EVENTS)[number];

/** One delivery: the state of one task, on its way to one target. */
export interface Delivery {
  /** The same in all attempts and replays. */
  readonly id: string;
  readonly account: string;
  /** Ascending per task. A receiver that has seen a higher version may ignore this one. */
  readonly sequence: number;
  readonly event: TaskEvent;
  /** When Lockstep saw the change, by its own clock. */
  readonly seenAt: Date;
  readonly task: TaskState;
  /** The target's id of the item that the task is linked to; undefined if there is none. */
  readonly itemId: string | undefined;
}

/** What a target answered, for the dead letter. It has at most a few hundred characters and never a secret. */
export interface TargetAnswer {
  readonly httpStatus?: number;
  readonly text?: string;
}

/** `itemId`: the item that was found or created, or the new id of a linked item that was moved; it is linked. */
export type DeliveryOutcome = { readonly answer?: TargetAnswer } & (
  | { readonly status: 'delivered'; readonly detail?: string; readonly itemId?: string }
  /** The item was read first, and nothing had to be written: it had this state, or people have changed it since. */
  | { readonly status: 'already'; readonly detail?: string; readonly itemId?: string }
  /** This target has nothing to update, for example because no item is linked. */
  | { readonly status: 'skipped'; readonly reason: string; readonly detail: string }
  /**
   * May work later. `isLimited`: the target, its account or its budget needs a pause; this does not count as an attempt, and
   * the target's other deliveries wait too. `isUnclear`: a call that changes something had no clear answer, so the target may
   * still apply it.
   */
  | {
      readonly status: 'later';
      readonly reason: string;
      readonly detail: string;
      readonly retryAfterMs?: number;
      readonly isLimited?: boolean;
      readonly isUnclear?: boolean;
      readonly itemId?: string;
    }
  /** A retry would not help. The delivery becomes a dead letter until a person fixes the cause and replays it. */
  | { readonly status: 'refused'; readonly reason: string; readonly detail: string; readonly itemId?: string }
  /** The target accepts nothing for any task: for example, the receiver is gone or the token was revoked. */
  | { readonly status: 'disabled'; readonly reason: string; readonly detail: string; readonly itemId?: string }
);

export type TargetFailure = Extract<DeliveryOutcome, { status: 'later' | 'refused' | 'disabled' }>;

export interface ItemState {
  readonly itemId: string;
  readonly isCompleted: boolean;
  /** The outside system's own name for the state, for people. */
  readonly status: string;
  /** It recurs: completing it leaves it open on its next date. So that it is open says nothing about its task. */
  readonly isAlwaysOpen?: boolean;
  /** Ids that the item had before it was moved; links that have one of them are moved too. */
  readonly formerIds?: readonly string[];
}

export type ItemRead =
  | { readonly status: 'found'; readonly item: ItemState }
  | { readonly status: 'missing' }
  | TargetFailure;

/** An item that a person created at a target. */
export interface NewItem {
  readonly itemId: string;
  readonly title: string;
  /** Plain text. */
  readonly text: string;
  readonly dueDate: string | undefined;
  readonly createdAt: Date;
  /** An id that it keeps when it moves, if `itemId` changes then. Lockstep chooses that of an item of Linear that it creates. */
  readonly lastingId?: string | undefined;
}

/** An item of a target whose form is not the vendor's. */
export interface UnreadItem {
  /** For people; the same in each read. */
  readonly unreadId: string;
  readonly why: string;
  readonly changedAt?: undefined;
}

/** By the target's clock. */
export interface NewItemTimes {
  /** Items that were created earlier are not new. */
  readonly baseline: Date;
  /** Items that have not changed since then were read before. */
  readonly since: Date;
}

/** An inbound call, as the web server received it. */
export interface HookRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface ReportedItem extends Omit<ItemState, 'isCompleted'> {
  /** Undefined if the call does not say it: the item has to be read. */
  readonly isCompleted: boolean | undefined;
}

export type HookVerdict =
  /**
   * Genuine. `items` is empty if the call is about something else. `id` is the sender's id of the call, if it is signed
   * together with the body. `isUndated`: a later call may be equal to it. `headers`: what the answer needs to have.
   */
  | {
      readonly status: 'accepted';
      readonly items: readonly ReportedItem[];
      readonly id?: string;
      readonly isUndated?: boolean;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly status: 'refused'; readonly httpStatus: 400 | 401; readonly reason: string };

/** One result of a check of a target, which writes nothing. */
export interface Finding {
  /** What was checked, for people: "repository octocat/hello-world". */
  readonly what: string;
  /** `unknown`: only a delivery shows it. */
  readonly status: 'ok' | 'problem' | 'unknown';
  readonly detail: string;
  /** What a person can do. */
  readonly remedy?: string;
}

/** A webhook as the outside system has it. */
export interface OutsideHook {
  readonly id: string;
  /** The address that it calls. */
  readonly url: string;
  /** Why its calls do not arrive or are not accepted; undefined if nothing is known to be wrong. */
  readonly problem?: string | undefined;
}

type HookChange<T> = Promise<{ readonly status: 'ok'; readonly value: T } | TargetFailure>;

/** The webhooks of an outside system that report its changes, managed by its API. */
export interface HookAdmin {
  list(context: CallContext): HookChange<readonly OutsideHook[]>;
  /** Makes a hook that calls this address, or sets up the `existing` one again, with its secret. */
  put(url: string, existing: OutsideHook | undefined, context: CallContext): HookChange<unknown>;
  remove(hook: OutsideHook, context: CallContext): HookChange<unknown>;
}

/** What a person has to do where the API of the outside system cannot. */
export interface HookByHand {
  /** The lines to show, for a hook that calls this address. */
  byHand(url: string): readonly string[];
}

export interface CallContext {
  /** Aborts when the process shuts down or this delivery times out. */
  readonly signal: AbortSignal;
  /** False: another process may send this delivery now, so no call of it may leave. Default: true. */
  readonly mayDispatch?: () => boolean;
  /** Whether the delivery may write its state to an item that it has read in another state. Default: it may. */
  readonly mayOverwrite?: (item: ItemState) => Promise<Overwriting>;
}

/**
 * `unsure`: it may, and an earlier delivery without a clear answer or a person has set the item's state. `no`: people changed the
 * item after it was last seen, and the task will follow it.
 */
export type Overwriting = 'yes' | 'unsure' | 'no';

export interface NewItemsRead {
  readonly status: 'read';
  readonly items: readonly NewItem[];
  readonly unread: readonly UnreadItem[];
  /** The target's time when it was asked. */
  readonly at: Date;
  /** Items that have changed since then were not all read; undefined if all were read. */
  readonly until: Date | undefined;
}

/** For targets that show many items in few calls. */
export interface ManyItems {
  /** How many are asked for at once. */
  readonly most: number;
  /** The items that it found. The caller reads the others one by one. */
  read(itemIds: readonly string[], context: CallContext): Promise<readonly ItemState[] | TargetFailure>;
}

export interface Target {
  /** Updates the target to the state of the delivery's task. Rejects only for defects. */
  deliver(delivery: Delivery, context: CallContext): Promise<DeliveryOutcome>;
  /** For targets with items: the current state of one item. */
  readonly readItem?: (itemId: string, context: CallContext) => Promise<ItemRead>;
  readonly readItems?: ManyItems;
  /** For targets with items: the items that a text names, such as ABC-12 or the URL of an issue. */
  readonly itemsIn?: (text: string) => readonly string[];
  /**
   * For targets whose new items become tasks: open items that others than Lockstep have created, each once, or more than have
   * changed. Without `times`, only the target's time is asked for.
   */
  readonly newItems?: (times: NewItemTimes | undefined, context: CallContext) => Promise<NewItemsRead | TargetFailure>;
  /** How a text names an item. */
  readonly nameOf?: (itemId: string) => string;
  /** For targets with webhooks: whether the call is genuine, and what it reports. */
  readonly readHook?: (request: HookRequest, now: Date) => Promise<HookVerdict>;
  /** For targets with webhooks: how they are set up there. */
  readonly hooks?: HookAdmin | HookByHand;
  /** For targets that receive events: sends one that is about no task. Rejects only for defects. */
  readonly test?: (context: CallContext) => Promise<DeliveryOutcome>;
  /** Whether the settings fit what the target has, found without writing. */
  readonly check?: (context: CallContext) => Promise<readonly Finding[]>;
  close(): Promise<void>;
}
