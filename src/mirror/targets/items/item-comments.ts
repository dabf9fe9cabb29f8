/**
 * Comments on items, each written once. A comment carries a marker, and the ledger records that it is about to be sent. After
 * a crash or a lost answer, the comment is searched for by its marker. It is sent again only if the target must show it by then
 * and does not.
 */
import type { Delivery } from '../../../contract/target.ts';
import { type CreationNeeds, createUnlessUnseen } from './create-once.ts';
import type { Creating } from './creation-log.ts';
import { mapAsked } from './item-calls.ts';
import type { Asked } from './item-target.ts';
import { commentMarker, LINK_COMMENT, linkCommentMarker } from './marker.ts';

/** The kind under which the ledger records comments of single deliveries. */
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

/** Whether the comment is new. */
export async function commentOnce<Item extends { readonly itemId: string }>(
  items: CommentItems<Item>,
  item: Item,
  delivery: Delivery,
  { about, text }: Comment,
  needs: CreationNeeds,
): Promise<Asked<boolean>> {
  const { log } = needs;
  const { account, itemId = item.itemId } = delivery; // not the new id of an item that has moved since it was linked
  const marker = about === 'link' ? linkCommentMarker(delivery, itemId) : commentMarker(delivery.id);
  const what: Creating = { account, task: { kind: about === 'link' ? LINK_COMMENT : CHANGE_COMMENT, id: marker } };
  const last = await log.lastOf(what);
  if (last?.isTaken) return { status: 'ok', value: false };
  const shown = await items.hasComment(item, last?.result ?? marker);
  if (shown.status !== 'ok') return shown;
  if (shown.value) {
    await log.noteTaken(what);
    return { status: 'ok', value: false };
  }
  const send = () => items.addComment(item, text, marker);
  const noun = `a comment on ${item.itemId}`;
  return mapAsked(createUnlessUnseen({ what, noun, last, send, resultOf: () => undefined }, needs), () => true);
}
