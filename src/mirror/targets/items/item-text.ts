/** Title and text of a created item, from the task, as plain text. Pure. */
import { compile } from 'html-to-text';
import { shortened } from '../../../base/texts.ts';
import type { TaskState } from '../../../contract/target.ts';

/** In UTF-16 units, as Jira counts; the other vendors count at most as many. */
const MAX_TITLE = 250;
const MAX_TEXT = 20_000;
const CLOSE = { leadingLineBreaks: 1, trailingLineBreaks: 1 };

/** No person writes more markup for the longest text, or nests it deeper; reading it would take long. */
export const MAX_HTML = 5 * MAX_TEXT;
const MAX_DEPTH = 100;

/** Block elements are separated by line breaks, links keep their addresses, and line breaks of plain text stay. */
const toText = compile({
  wordwrap: false,
  preserveNewlines: true,
  limits: { maxDepth: MAX_DEPTH },
  selectors: [
    { selector: 'a', options: { linkBrackets: ['(', ')'], hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: 'img[src^="data:"]', format: 'skip' },
    { selector: 'ul', options: { ...CLOSE, itemPrefix: '- ' } },
    ...['p', 'ol', 'pre', 'blockquote', 'table'].map((selector) => ({ selector, options: CLOSE })),
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { ...CLOSE, uppercase: false } })),
    ...['td', 'th', 'tr', 'dt', 'dd'].map((selector) => ({ selector, format: 'block' })),
  ],
});

/** One line, never empty, short enough for every vendor. */
export function taskTitle(task: TaskState): string {
  return lineOf(plainText(task.title)) || `${task.kind} ${task.id}`;
}

/** Plain text on one line, short enough for a title. */
export function lineOf(text: string): string {
  return shortened(text.replaceAll(/\s+/g, ' ').trim(), MAX_TITLE);
}

/** Any number of lines; markup and comments are left out. */
export function itemTextOf(task: TaskState): string {
  return shortened(plainText(task.description), MAX_TEXT);
}

/** The text, with the marker by which the item is found at its end, if it has one; together at most `most` characters. */
export function markedText(text: string, marker: string | undefined, most = MAX_TEXT): string {
  const end = marker === undefined ? '' : `\n\n${marker}`;
  return `${shortened(text, most - end.length)}${end}`.trimStart();
}

/** Title and text of an item that becomes a task. */
export function textsOf(title: string, text: string | null | undefined) {
  return { title: lineOf(title), text: shortened(text?.trim() ?? '', MAX_TEXT) };
}

/** Short enough for every vendor. */
export function cutText(text: string): string {
  return shortened(text, MAX_TEXT);
}

export function endsWith(text: string | null | undefined, marker: string): boolean {
  return text?.trimEnd().endsWith(marker) ?? false;
}

function plainText(html: string): string {
  const text = toText(withoutLooseBrackets(html.slice(0, MAX_HTML)))
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
  return withoutMentions(text);
}

/** In many systems it would notify a person of that name; a space of no width prevents that. */
export function withoutMentions(text: string): string {
  return text.replaceAll(/(?<![\w.])@(?=\w)/g, '@\u200b');
}

/** Brackets of plain text: `<https://…>` is an address, and `a<b` is not the beginning of a tag. */
function withoutLooseBrackets(html: string): string {
  return html.replaceAll(/<(https?:\/\/[^<>\s]*)>/gi, '$1').replaceAll(/<(?!\/?[a-z][^<>]*>|!--)/gi, '&lt;');
}

/** Decodes HTML character references in a text without tags. */
export function decodeEntities(text: string): string {
  return toText(text.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
}
