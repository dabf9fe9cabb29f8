/** Fills the templates of reasons (reason.ts says how they are written) with facts. */
import { shortened } from '../texts.ts';
import type { Cause, Difference, Fact, Facts } from './reason.ts';

export interface Filling {
  readonly facts: Facts;
  /** A command to copy, from one without `lockstep`. */
  command(command: string): string;
  /** The statement about a cause. */
  said(cause: Cause): string;
}

/** Names at most this many items of a list. */
const MOST_NAMED = 10;
/** Characters of a fact, such as a field of a record. */
const MOST_OF_FACT = 500;
const PART = /\[(?:([?!])(\w+) ?)?([^\]]*)\]/g;
const NAME = /\{(\w+)(?: or)?\}/g;
const COMMAND = /`lockstep [^`]*`/g;
const NAME_OR_COMMAND = /`lockstep ([^`]*)`|\{(\w+)( or)?\}/g;

/** If a command needs a fact that is missing, its name is printed in capitals, for the reader to fill in. */
export function fill(template: string, filling: Filling): string {
  const { facts } = filling;
  const text = template.replace(PART, (_, sign: '?' | '!' | undefined, name: string, part: string) => {
    const isWanted = sign === undefined || isSet(facts[name]) === (sign === '?');
    return isWanted && namesIn(part.replace(COMMAND, '')).every((one) => isSet(facts[one])) ? part : '';
  });
  return text.replace(NAME_OR_COMMAND, (_, command: string | undefined, name: string, or?: string) =>
    command === undefined
      ? wordsOf(facts[name], filling, or ? 'or' : 'and')
      : `\`${filling.command(argumentsOf(command, facts))}\``,
  );
}

/** Whether a fact that the template requires is missing. */
export function lacks(template: string, facts: Facts): boolean {
  return namesIn(template.replace(PART, '')).some((name) => !isSet(facts[name]));
}

/** The facts that a template uses. */
export function namesIn(template: string): readonly string[] {
  const conditions = [...template.matchAll(PART)].flatMap(([, , name]) => name ?? []);
  return [...new Set([...conditions, ...[...template.matchAll(NAME)].map(([, name = '']) => name)])];
}

/** As one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A command with these options; those without a value are left out. */
export function withOptions(command: string, options: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} ${shellWord(value)}`],
  );
  return command + given.join('');
}

function argumentsOf(command: string, facts: Facts): string {
  return command.replace(NAME, (_, name: string) => {
    const fact = facts[name];
    if (!isSet(fact)) return name.toUpperCase();
    return (Array.isArray(fact) ? fact : [fact]).map((one) => shellWord(String(one))).join(' ');
  });
}

function isSet(fact: Fact | undefined): boolean {
  if (Array.isArray(fact)) return fact.length > 0;
  return fact !== undefined && fact !== null && fact !== false && fact !== '';
}

/** `joint`: before the last item of a list; a list that is complete needs no "and". */
function wordsOf(fact: Fact | undefined, filling: Filling, joint: 'and' | 'or' = 'and'): string {
  if (Array.isArray(fact)) {
    const items = fact.slice(0, MOST_NAMED).map((one) => wordsOf(one, filling));
    const more = fact.length > MOST_NAMED ? `${fact.length - MOST_NAMED} more` : undefined;
    const last = more ?? (joint === 'or' && items.length > 1 ? items.pop() : undefined);
    return `${items.join(', ')}${last === undefined ? '' : ` ${joint} ${last}`}`;
  }
  if (typeof fact !== 'object' || fact === null) return shortened(String(fact ?? ''), MOST_OF_FACT);
  return 'code' in fact ? filling.said(fact) : inWords(fact as Difference); // of the objects, only these two are facts
}

function inWords({ field, is, expected }: Difference): string {
  return is === undefined || expected === undefined
    ? `another ${field}`
    : `${field} ${said(is)} instead of ${said(expected)}`;
}

const said = (value: string | number) => (value === '' ? '(empty)' : shortened(String(value), MOST_OF_FACT));
