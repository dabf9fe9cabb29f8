/**
 * Marks by which the item created for a task is found again, whether or not its creation was answered: always the same
 * for the same task. Our choice: no vendor but Linear lets the creator choose the identity of an item.
 */
import { createHash } from 'node:crypto';
import type { Delivery } from './target.ts';

/** Of a text, a marker and what stands behind it. */
const MAX_END = 400;

/** `lockstep-` and 12 hexadecimal digits; fits a label, a header and a line of text. */
export function markerOf(delivery: Delivery): string {
  return `lockstep-${digestOf(delivery).toString('hex').slice(0, 12)}`;
}

/** The marker that a text ends with, whatever markup and white space a service has put behind it. */
export function markerAtEnd(text: string): string | undefined {
  return /(lockstep-[\da-f]{12})(?:\s|&nbsp;|<\/?[a-z][^<>]*>)*$/i.exec(text.slice(-MAX_END))?.[1];
}

/** The same as a UUID: version 4 and its variant by their bits, the rest from the digest. */
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
