/**
 * Texts in the Atlassian Document Format: developer.atlassian.com/cloud/jira/platform/apis/document/structure, and …/nodes
 * for what each node shows.
 */
import { z } from 'zod';

/** The format does not allow an empty text: an empty description is null. */
export function documentOf(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return null;
  const content = lines.map((line) => ({ type: 'paragraph', content: [{ type: 'text', text: line }] }));
  return { type: 'doc', version: 1, content };
}

const shown = z.string().optional().catch(undefined);
const node = z.looseObject({
  type: z.string().optional(),
  text: z.string().optional(),
  content: z.array(z.unknown()).optional(),
  attrs: z
    .looseObject({ text: shown, shortName: shown, url: shown, timestamp: shown, title: shown })
    .optional()
    .catch(undefined),
  marks: z.array(z.unknown()).optional().catch(undefined),
});
const link = z.object({ type: z.literal('link'), attrs: z.object({ href: z.string() }) });

const BLOCKS =
  /^(paragraph|heading|(list|task|decision)Item|codeBlock|blockquote|tableRow|hardBreak|(block|embed)Card)$/;

/** The text of a document, with a line break after each block. */
export function plainTextOf(given: unknown): string {
  const { type = '', text = '', content = [], attrs = {}, marks = [] } = node.safeParse(given).data ?? {};
  const [href] = marks.flatMap((mark) => link.safeParse(mark).data?.attrs.href ?? []);
  const address = href === undefined || href === text ? '' : ` (${href})`;
  const whole = `${text}${address}${ownTextOf(attrs)}${content.map(plainTextOf).join('')}`;
  return BLOCKS.test(type) ? `${whole}\n` : whole;
}

/** What a node shows that has no text in it: a mention, a status, an emoji, a card, a date, a part that opens. */
function ownTextOf({ text, shortName, url, timestamp, title }: NonNullable<z.output<typeof node>['attrs']>): string {
  const day = new Date(Number(timestamp));
  if (timestamp !== undefined && !Number.isNaN(day.getTime())) return day.toISOString().slice(0, 10);
  return text ?? shortName ?? url ?? (title === undefined ? '' : `${title}\n`);
}
