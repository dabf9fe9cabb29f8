/** The items that a task names in its own title and description, which may hold HTML. Pure. */
import type { Target, TaskState } from '../targets/target.ts';

/** Tags that stand within a word: what is before and behind them is read as one. */
const WITHIN_WORDS = new Set(
  'a abbr b bdi bdo code del em font i ins kbd mark s small span strike strong sub sup tt u wbr'.split(' '),
);

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['nbsp', ' '],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['amp', '&'],
  ['num', '#'],
  ['sol', '/'],
  ['colon', ':'],
  ['period', '.'],
  ['lowbar', '_'],
  ['hyphen', '-'],
]);

/** In the order of the text, each once. */
export function itemsNamedBy(
  { title, description }: Pick<TaskState, 'title' | 'description'>,
  itemsIn: NonNullable<Target['itemsIn']>,
): readonly string[] {
  // Each by itself: nothing is read across them, and where several names begin alike, each is read to its own end.
  const texts = [title, description].flatMap(readableParts);
  return [...new Set(texts.flatMap((text) => [...itemsIn(text)]))];
}

/** What a person sees of it, and then the addresses that its links lead to. */
function readableParts(html: string): readonly string[] {
  const addresses: string[] = [];
  const seen = html
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replaceAll(/<\/?([a-z][a-z\d]*)\b([^<>]*)>/gi, (_tag, name: string, attributes: string) => {
      if (attributes.startsWith('://')) return `\n${name}${attributes}\n`; // <https://…>, as plain text writes addresses
      const href = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/i.exec(attributes);
      if (href) addresses.push(decoded(href[1] ?? href[2] ?? href[3] ?? '').trim());
      return WITHIN_WORDS.has(name.toLowerCase()) ? '' : '\n';
    });
  return [decoded(seen), ...addresses];
}

function decoded(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi,
    (entity, ...found: (string | undefined)[]) => {
      const [decimal, hex, name] = found;
      if (name !== undefined) return ENTITIES.get(name) ?? entity;
      const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10);
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}
