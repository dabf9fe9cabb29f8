/**
 * The schema does not check values below a wrong name or a wrong type. This makes a copy of the document in which these
 * are replaced by the probable ones, so that everything else is checked at the same time.
 */
import { closest } from '../base/closest.ts';
import { name as nameSchema } from './fields.ts';
import type { Mistake } from './issues.ts';
import type { PathStep } from './problems.ts';

export interface Guessed {
  readonly value: unknown;
  /** Undefined if the mistake is about a guess and not about the document. */
  original(mistake: Mistake): Mistake | undefined;
}

/** The keys of each type in a section. */
export type Variants = Readonly<Record<string, readonly string[]>>;

type Entry = Readonly<Record<string, unknown>>;
interface Guess {
  readonly entry: unknown;
  /** How the document spells the key `type`. */
  readonly typeKey?: string;
  /** True if the type was guessed from the keys alone. Then only mistakes about keys that all types share count. */
  readonly isVague?: boolean;
}

export function guessDocument(document: unknown, variants: Readonly<Record<string, Variants>>): Guessed {
  if (!isMap(document)) return { value: document, original: (mistake) => mistake };
  const names = new Map<string, string>();
  const guesses = new Map<string, Guess>();
  const value = Object.fromEntries(
    Object.entries(document).map(([section, entries]) => {
      if (!isMap(entries) || !SECTIONS.includes(section)) return [section, entries];
      const guessed = Object.entries(entries).map(([name, entry], index) => {
        const isName = nameSchema.safeParse(name).success;
        const shown = isName ? name : `entry-${index}-${section}`;
        names.set(`${section}/${shown}`, name);
        const guess = guessType(entry, variants[section]);
        guesses.set(`${section}/${shown}`, guess);
        return [shown, guess.entry];
      });
      return [section, Object.fromEntries(guessed)];
    }),
  );
  return {
    value,
    original({ path, ...mistake }) {
      const [section, shown, key, ...rest] = path;
      const name = names.get(`${section}/${shown}`);
      const guess = guesses.get(`${section}/${shown}`);
      if (section === undefined || name === undefined) return { ...mistake, path };
      const isAboutType = mistake.part === 'key' || key === 'options' || mistake.message.startsWith('missing');
      if (guess?.isVague === true && isAboutType && key !== 'type') return undefined;
      const own: PathStep[] = key === undefined ? [] : [key === 'type' ? (guess?.typeKey ?? key) : key, ...rest];
      return { ...mistake, path: [section, name, ...own] };
    },
  };
}

const SECTIONS: readonly PathStep[] = ['accounts', 'syncs', 'targets', 'alerts'];

/** Earlier versions called the type of a sync its job; such files are still accepted. */
export function typeKeyOf(entry: Entry): string {
  return 'job' in entry && !('type' in entry) ? 'job' : 'type';
}

function guessType(entry: unknown, variants: Variants | undefined): Guess {
  if (variants === undefined || !isMap(entry)) return { entry };
  const types = Object.keys(variants);
  const typeKey = typeKeyOf(entry);
  const written = typeKey in entry ? typeKey : (closest('type', Object.keys(entry)) ?? typeKey);
  const { [written]: given, ...rest } = entry;
  const meant = typeof given !== 'string' ? undefined : types.includes(given) ? given : closest(given, types);
  if (meant !== undefined) return { entry: { type: meant, ...rest }, typeKey };
  const likely = mostAlike(Object.keys(rest), variants);
  return { entry: { type: likely, ...rest }, typeKey, isVague: true };
}

/** The type with the most of these keys. */
function mostAlike(keys: readonly string[], variants: Variants): string | undefined {
  const score = (own: readonly string[]) => keys.filter((key) => own.includes(key)).length;
  const [best] = Object.entries(variants).sort(([, a], [, b]) => score(b) - score(a));
  return best?.[0];
}

function isMap(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
