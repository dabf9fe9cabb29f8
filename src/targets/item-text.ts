/** What a created item is called and says: the task's own words as plain text. Pure. */
import type { TaskState } from './target.ts';

const MAX_TITLE = 250;
const MAX_TEXT = 20_000;

const ENTITIES: Readonly<Record<string, string>> = {
  '&nbsp;': ' ',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&amp;': '&',
};

/** One line, never empty, short enough for every vendor. */
export function titleOf(task: TaskState): string {
  const title = plainText(task.title).replaceAll(/\s+/g, ' ').trim();
  return cut(title === '' ? `${task.kind} ${task.id}` : title, MAX_TITLE);
}

/** Lines, maybe none; markup and comments are left out. */
export function textOf(task: TaskState): string {
  return cut(plainText(task.description), MAX_TEXT);
}

/** The text, and at its end what the item is found by. */
export function markedText(task: TaskState, marker: string): string {
  return `${textOf(task)}\n\n${marker}`.trimStart();
}

export function endsWith(text: string | null | undefined, marker: string): boolean {
  return text?.trimEnd().endsWith(marker) ?? false;
}

function plainText(html: string): string {
  return html
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/h\d)\b[^<>]*>/gi, '\n')
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/<\/?[a-z][^<>]*>/gi, '')
    .replaceAll(/&(?:nbsp|lt|gt|quot|#39|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

/** By characters, not code units: half of one is no text. */
function cut(text: string, length: number): string {
  const characters = text.length > length ? [...text] : [];
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}
