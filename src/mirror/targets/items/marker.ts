/**
 * Markers by which the item created for a task is found again, even if its creation was not answered. A task always has
 * the same marker. Our choice: of all vendors, only Linear lets the creator choose the id of an item.
 */
import { createHash } from 'node:crypto';
import type { Creating } from './creation-log.ts';

/** The kind under which the ledger records comments about links. */
export const LINK_COMMENT = 'link-comment';

/** In a text, a marker and everything after it. */
const MAX_END = 400;

/** `lockstep-` and 12 hexadecimal digits; fits a label, a header and a line of text. */
export function markerOf(delivery: Creating): string {
  return toMarker(digestOf(delivery));
}

/** The marker of a comment, by a name of its own. */
export function commentMarker(name: string): string {
  return toMarker(sha256(`lockstep:comment:${name}`));
}

export function linkCommentMarker({ account, task }: Creating, itemId: string): string {
  return commentMarker(`${account}/${task.kind}/${task.id}/${itemId}`);
}

/** What a task is made from, by the name of the target and the id of its item. */
export function newItemOf(target: string, itemId: string): Creating['task'] {
  return { kind: 'item', id: `${target}/${itemId}` };
}

/** The marker at the end of a text, ignoring markup and white space that a service has added after it. */
export function markerAtEnd(text: string): string | undefined {
  return /(lockstep-[\da-f]{12})(?:\s|&nbsp;|<\/?[a-z][^<>]*>)*$/i.exec(text.slice(-MAX_END))?.[1];
}

export function markerUuidOf(delivery: Creating): string {
  return toUuid(digestOf(delivery));
}

export function commentUuidOf(marker: string): string {
  return toUuid(sha256(marker));
}

/** The bits for version 4 and its variant are fixed, the rest is from the digest. */
function toUuid(digest: Buffer): string {
  const bytes = digest.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function toMarker(digest: Buffer): string {
  return `lockstep-${digest.toString('hex').slice(0, 12)}`;
}

function digestOf({ account, task }: Creating): Buffer {
  return sha256(`lockstep:${account}/${task.kind}/${task.id}`);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
