/** The items that a task names in its own title and description, which may hold HTML. Pure. */
import type { Target, TaskState } from '../../contract/target.ts';
import { decodeEntities, MAX_HTML } from '../targets/items/item-text.ts';

/** Tags that can be inside a word: the text before and after them is read as one word. */
const WITHIN_WORDS = new Set(
  'a abbr b bdi bdo code del em font i ins kbd mark s small span strike strong sub sup tt u wbr'.split(' '),
);

/** In the order of the text, each once. */
export function itemsNamedBy(
  { title, description }: Pick<TaskState, 'title' | 'description'>,
  itemsIn: NonNullable<Target['itemsIn']>,
): readonly string[] {
  // Each part is read alone, so no name spans two parts; if several names begin alike, each is read to its own end.
  const texts = [title, description].flatMap((html) => readableParts(html.slice(0, MAX_HTML)));
  return [...new Set(texts.flatMap((text) => [...itemsIn(text)]))];
}

/** The visible text, followed by the addresses of its links. */
function readableParts(html: string): readonly string[] {
  const addresses: string[] = [];
  const seen = html
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replaceAll(/<\/?([a-z][a-z\d]*)\b([^<>]*)>/gi, (_tag, name: string, attributes: string) => {
      if (attributes.startsWith('://')) return `\n${name}${attributes}\n`; // <https://…>, as plain text writes addresses
      const href = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/i.exec(attributes);
      if (href) addresses.push(decodeEntities(href[1] ?? href[2] ?? href[3] ?? '').trim());
      return WITHIN_WORDS.has(name.toLowerCase()) ? '' : '\n';
    });
  return [decodeEntities(seen), ...addresses];
}
