/**
 * Explains zod's issues to people who write YAML. `explainIssue` writes messages that the schema's own fields do not
 * have, and `listIssues` turns zod's nested issues into one entry per key.
 */
import { z } from 'zod';
import { closest } from '../base/closest.ts';
import { didYouMean, oneOf, quote, yamlKind } from './message-parts.ts';
import type { PathStep } from './problems.ts';

/** What is wrong in the settings, or probably wrong, by its path; a `Problem` also has its line. */
export interface Mistake {
  readonly path: readonly PathStep[];
  readonly message: string;
  /** Whether the key itself is wrong. Default: its value. */
  readonly part?: 'key';
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys',
  record: 'a map of names',
  array: 'a list',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'expected a UUID',
  email: 'expected an e-mail address, such as ops@example.com',
};

/**
 * For `safeParse(…, { error: explainIssue })`. It shows only numbers and values of closed choices, because other text
 * may be a secret.
 */
export const explainIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return explainType(EXPECTED[issue.expected] ?? issue.expected, issue.input);
    case 'unrecognized_keys': {
      // One line per key; listIssues splits them.
      return issue.keys.map((key) => explainKey(key, issue.inst)).join('\n');
    }
    case 'invalid_value':
      return explainChoice(issue.values.map(String), issue.input);
    case 'invalid_union':
      return issue.discriminator === undefined
        ? explainLiterals(issue)
        : explainDiscriminator(issue.discriminator, issue);
    case 'too_small':
      if (issue.origin === 'number') return `expected at least ${issue.minimum}, got ${issue.input}`;
      return issue.origin === 'string'
        ? 'must not be empty'
        : `needs at least ${issue.minimum === 1 ? 'one entry' : `${issue.minimum} entries`}`;
    case 'too_big':
      if (issue.origin === 'number') return `expected at most ${issue.maximum}, got ${issue.input}`;
      return issue.origin === 'string'
        ? `is longer than ${issue.maximum} characters`
        : `has more than ${issue.maximum} entries`;
    case 'invalid_format':
      return FORMATS[issue.format];
    default:
      return undefined;
  }
};

export const UNKNOWN_KEY = 'unknown key';

/** `inst`: the schema of the map that has the key. */
function explainKey(key: string, inst: unknown): string {
  if (inst instanceof z.ZodRecord) {
    const [issue] = z.safeParse(inst.keyType, key, { error: explainIssue }).error?.issues ?? [];
    if (issue) return issue.message;
  }
  return `${UNKNOWN_KEY}${didYouMean(key, inst instanceof z.ZodObject ? Object.keys(inst.shape) : [])}`;
}

/** "missing", "is empty" or "expected …, got …". */
export function explainType(expected: string, input: unknown): string {
  if (input === undefined) return `missing: expected ${expected}`;
  if (input === null) return `is empty: expected ${expected}; leave the key out if it is not needed`;
  return `expected ${expected}, got ${yamlKind(input)}${typeof input === 'string' ? textHint(expected, input) : ''}`;
}

function textHint(expected: string, input: string): string {
  if (/number/.test(expected)) return /^\d+$/.test(input) ? '; write it without quotes' : '';
  if (expected !== EXPECTED.boolean) return '';
  // YAML 1.1 read these words as booleans; YAML 1.2 does not.
  if (/^(yes|on|true)$/i.test(input)) return '; write true';
  return /^(no|off|false)$/i.test(input) ? '; write false' : '';
}

function explainChoice(choices: readonly string[], input: unknown): string {
  const expected = oneOf(choices);
  if (typeof input !== 'string') return explainType(expected, input);
  return `expected ${expected}, got ${quote(input)}${didYouMean(input, choices)}`;
}

/** A union of fixed values, such as auto, 0 and 1. Other unions have their own messages. */
function explainLiterals({ errors, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const choices = errors.map(([issue]) => (issue?.code === 'invalid_value' ? issue.values.map(String) : undefined));
  return choices.includes(undefined)
    ? undefined
    : explainChoice(
        choices.flatMap((values) => values ?? []),
        input,
      );
}

function explainDiscriminator(key: string, issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const choices = Array.isArray(issue.options) ? issue.options.map(String) : [];
  const input = typeof issue.input === 'object' && issue.input !== null ? issue.input : {};
  const value: unknown = Object.hasOwn(input, key) ? new Map(Object.entries(input)).get(key) : undefined;
  const written = value === undefined ? closest(key, Object.keys(input)) : undefined;
  return `${explainChoice(choices, value)}${written === undefined ? '' : `; did you mean ${quote(key)} instead of ${quote(written)}?`}`;
}

/** Every issue of a failed parse, one for each key. */
export function listIssues(issues: readonly z.core.$ZodIssue[], base: readonly PathStep[] = []): Mistake[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
    switch (issue.code) {
      case 'unrecognized_keys': {
        const messages = issue.message.split('\n');
        return issue.keys.map((key, index): Mistake => {
          return { path: [...path, key], message: messages[index] ?? UNKNOWN_KEY, part: 'key' };
        });
      }
      case 'invalid_key':
        return [{ path, message: issue.issues[0]?.message ?? issue.message, part: 'key' }];
      case 'invalid_union': {
        const branch = onlyLikelyBranch(issue.errors);
        return branch === undefined ? [{ path, message: issue.message }] : listIssues(branch, path);
      }
      default:
        return [{ path, message: issue.message }];
    }
  });
}

/** A union of text and a map fails in every branch. The branch with the matching kind is reported. */
function onlyLikelyBranch(branches: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  const likely = branches.filter((branch) => !branch.some(isAboutWholeValue));
  return likely.length === 1 ? likely[0] : undefined;
}

function isAboutWholeValue(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
}
