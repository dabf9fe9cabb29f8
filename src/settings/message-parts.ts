/** Parts of messages: quotes the written value, names its kind, and suggests the intended word. */
import { closest } from '../base/closest.ts';
import { shortened } from '../base/texts.ts';

/** A value as a message shows it: quoted, shortened, and without control characters that would reach the terminal. */
export function quote(text: string): string {
  return JSON.stringify(shortened(text, 40));
}

/** The kind of a value, for people who write YAML. */
export function yamlKind(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (Number.isNaN(value)) return 'text that is not a number';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return `${value}`;
  return 'a map';
}

/** `a`, `b` or `c`. */
export function oneOf(choices: readonly string[]): string {
  return joined(choices, 'or');
}

/** `a`, `b` and `c`. */
export function allOf(names: readonly string[]): string {
  return joined(names, 'and');
}

function joined(names: readonly string[], word: string): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${word} ${last}`;
}

/** `; did you mean "x"?` with the candidate closest to `word`; empty if none is close. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const match = closest(word, candidates);
  return match === undefined ? '' : `; did you mean ${quote(match)}?`;
}
