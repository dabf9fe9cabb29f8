/**
 * Comments on items, each written once. A comment carries a marker, and the ledger records that it is about to be sent. After
 * a crash or a lost answer, the comment is searched for by its marker. It is sent again only if the target must show it by then
 * and does not.
 */
import type { Delivery, TargetFailure } from '../../contract/target.ts';
import type { Creating, CreationLog } from './creation-log.ts';
import { mayHaveHappened } from './item-outcome.ts';
import type { Asked, Missing } from './item-target.ts';
import { commentMarker } from './marker.ts';

/** The kinds under which the ledger records comments: of links, kept with them, and of single deliveries. */
const LINK_COMMENT = 'link-comment';
export const CHANGE_COMMENT = 'change-comment';

export interface CommentItems<Item> {
  hasComment(item: Item, marker: string): Promise<Asked<boolean>>;
  /** The comment has the marker at its end, or is created under an id that is made of it. */
  addComment(item: Item, text: string, marker: string): Promise<Asked<unknown>>;
}

export interface Comment {
  /** `link`: once for each item of a task; `change`: once for each delivery. */
  readonly about: 'link' | 'change';
  readonly text: string;
}

export interface CommentNeeds {
  readonly log: CreationLog;
  /** How long a comment may exist before the target shows it. */
  readonly settleMs: number;
}

type Commented = { readonly status: 'ok'; readonly isNew: boolean } | Missing | TargetFailure;

export async function commentOnce<Item extends { readonly itemId: string }>(
  items: CommentItems<Item>,
  item: Item,
  delivery: Delivery,
  { about, text }: Comment,
  { log, settleMs }: CommentNeeds,
): Promise<Commented> {
  const marker = commentMarker(about === 'link' ? `${keyOf(delivery)}/${item.itemId}` : delivery.id);
  const key: Creating = {
    account: delivery.account,
    task: { kind: about === 'link' ? LINK_COMMENT : CHANGE_COMMENT, id: marker },
  };
  const last = await log.lastOf(key);
  if (last?.isTaken) return { status: 'ok', isNew: false };
  const shown = await items.hasComment(item, marker);
  if (shown.status !== 'ok') return shown;
  if (!shown.value && last !== undefined && last.agoMs < settleMs) return unseen(item, settleMs - last.agoMs);
  const at = await log.begin(key, last);
  if (at === undefined) return unseen(item, settleMs); // another process has begun it
  if (!shown.value) {
    const sent = await items.addComment(item, text, marker);
    if (sent.status !== 'ok') return afterFailure(sent, () => log.forget(key, at), settleMs);
  }
  await log.noteTaken(key);
  return { status: 'ok', isNew: !shown.value };
}

async function afterFailure(
  failure: Missing | TargetFailure,
  forget: () => Promise<void>,
  settleMs: number,
): Promise<Missing | TargetFailure> {
  if (failure.status === 'later' && mayHaveHappened(failure)) {
    const detail = `${failure.detail}; the comment may have been written, so Lockstep searches for it before it writes it again`;
    return { ...failure, detail, retryAfterMs: Math.max(failure.retryAfterMs ?? 0, settleMs) };
  }
  await forget();
  return failure;
}

function unseen({ itemId }: { readonly itemId: string }, retryAfterMs: number): TargetFailure {
  const detail = `A comment on ${itemId} may have been written, and is not shown yet; it is not written again before it must be shown`;
  return { status: 'later', reason: 'COMMENT_UNSEEN', detail, retryAfterMs: Math.ceil(retryAfterMs) };
}

function keyOf({ account, task }: Delivery): string {
  return `${account}/${task.kind}/${task.id}`;
}
