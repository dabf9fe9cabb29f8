/** Title and text of a created item, from the task, as plain text. Pure. */
import type { TaskState } from '../../contract/target.ts';

const MAX_TITLE = 250;
const MAX_TEXT = 20_000;

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({ nbsp: ' ', lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', num: '#', sol: '/' }).concat(
    Object.entries({ colon: ':', period: '.', lowbar: '_', hyphen: '-' }),
  ),
);

/** One line, never empty, short enough for every vendor. */
export function titleOf(task: TaskState): string {
  const title = plainText(task.title).replaceAll(/\s+/g, ' ').trim();
  return cut(title === '' ? `${task.kind} ${task.id}` : title, MAX_TITLE);
}

/** Any number of lines; markup and comments are left out. */
export function itemTextOf(task: TaskState): string {
  return cut(plainText(task.description), MAX_TEXT);
}

/** The text, with the marker by which the item is found at its end. */
export function markedText(task: TaskState, marker: string): string {
  return `${itemTextOf(task)}\n\n${marker}`.trimStart();
}

export function endsWith(text: string | null | undefined, marker: string): boolean {
  return text?.trimEnd().endsWith(marker) ?? false;
}

function plainText(html: string): string {
  const text = html
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/h\d)\b[^<>]*>/gi, '\n')
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/<\/?[a-z][^<>]*>/gi, '');
  return decodeEntities(text)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** Decodes HTML character references, by name or number; an invalid reference stays unchanged. */
export function decodeEntities(text: string): string {
  const reference = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi;
  return text.replaceAll(reference, (entity, ...found: (string | undefined)[]) => {
    const [decimal, hex, name] = found;
    if (name !== undefined) return ENTITIES.get(name) ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    const isText = code > 8 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isText ? String.fromCodePoint(code) : entity;
  });
}

/** By characters, not code units: half a surrogate pair is not text. */
function cut(text: string, length: number): string {
  const characters = text.length > length ? [...text] : [];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
