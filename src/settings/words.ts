/** Parts of messages: quotes the written value, names its kind, and suggests the intended word. */
import { editDistance } from '../base/edit-distance.ts';

/** A value as a message shows it: quoted, shortened, and without control characters that would reach the terminal. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}

/** The kind of a value, for people who write YAML. */
export function yamlKind(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return `${value}`;
  return 'a map';
}

/** `a`, `b` or `c`. */
export const oneOf = (choices: readonly string[]) => OR.format(choices);
const OR = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** `; did you mean "x"?` with the candidate closest to `word`; empty if none is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const match = closest(word, candidates);
  return match === undefined ? '' : `; did you mean ${quote(match)}?`;
}

/** The candidate closest to `word`: up to a third of its letters may differ; case, `_` and `-` are ignored. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const plainWord = plain(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const target = plain(candidate);
    const allowed = Math.max(1, Math.floor(Math.max(plainWord.length, target.length) / 3));
    const distance = editDistance(plainWord, target);
    if (distance <= allowed && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

function plain(word: string): string {
  return word
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[-_\s]/g, '');
}
