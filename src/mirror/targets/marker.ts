/**
 * Markers by which the item created for a task is found again, even if its creation was not answered. A task always has
 * the same marker. Our choice: of all vendors, only Linear lets the creator choose the id of an item.
 */
import { createHash } from 'node:crypto';
import type { Delivery } from '../../contract/target.ts';

/** In a text, a marker and everything after it. */
const MAX_END = 400;

/** `lockstep-` and 12 hexadecimal digits; fits a label, a header and a line of text. */
export function markerOf(delivery: Delivery): string {
  return `lockstep-${digestOf(delivery).toString('hex').slice(0, 12)}`;
}

/** The marker at the end of a text, ignoring markup and white space that a service has added after it. */
export function markerAtEnd(text: string): string | undefined {
  return /(lockstep-[\da-f]{12})(?:\s|&nbsp;|<\/?[a-z][^<>]*>)*$/i.exec(text.slice(-MAX_END))?.[1];
}

/** The marker as a UUID: the bits for version 4 and its variant are fixed, the rest is from the digest. */
export function markerUuidOf(delivery: Delivery): string {
  const bytes = digestOf(delivery).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function digestOf({ account, task }: Delivery): Buffer {
  return createHash('sha256').update(`lockstep:${account}/${task.kind}/${task.id}`).digest();
}
