/** Parsers for arguments that several commands take. Each throws an error that commander reports. */
import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../../settings/durations.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';

/** Describes `--account NAME` of commands that work on one account. */
export const ACCOUNT_WORDS = 'account in the settings; default: the only one';

/** Above 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('Expected a whole number above 0.');
  return Number(text);
}

/** 0 means any free port. */
export function portNumber(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return Number(text);
}

/** `a, b,c` */
export function commaSeparated(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes('')) throw new InvalidArgumentError('Expected names with commas between them.');
  return parts;
}

/**
 * `FIELD=COLUMN`, repeated for each field; `mayBeNone`: an empty column means that no column fills the field.
 */
export function columnChoices<Field extends string>(fields: readonly Field[], { mayBeNone = false } = {}) {
  return (text: string, earlier: ReadonlyMap<Field, string> = new Map()): ReadonlyMap<Field, string> => {
    const at = text.indexOf('=');
    const [name, column] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || (column === '' && !mayBeNone))
      throw new InvalidArgumentError(`Expected FIELD=COLUMN${mayBeNone ? ', or FIELD= for none' : ''}.`);
    const field = fields.find((one) => one === name);
    if (field) return new Map([...earlier, [field, column]]);
    throw new InvalidArgumentError(`No field ${quote(name)}${didYouMean(name, fields)} (expected ${oneOf(fields)}).`);
  };
}

type OneOf = readonly string[];
type GivenWhere = ReadonlyMap<string, OneOf | { readonly not: OneOf }>;

/** `COLUMN=VALUE` or `COLUMN!=VALUE`, repeated; several values of one column are one condition. */
export function toWhere(text: string, earlier: GivenWhere = new Map()): GivenWhere {
  const [, column, not, value = ''] = /^(.+?)(!)?=(.*)$/s.exec(text) ?? [];
  if (column === undefined) throw new InvalidArgumentError('Expected COLUMN=VALUE or COLUMN!=VALUE.');
  const before = earlier.get(column) ?? (not ? { not: [] } : []);
  if ('not' in before !== (not !== undefined))
    throw new InvalidArgumentError(`${quote(column)} has both = and !=: leave one of them out.`);
  return new Map([...earlier, [column, 'not' in before ? { not: [...before.not, value] } : [...before, value]]]);
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** A point in time, or how long ago it was. Without an offset, it is in the time zone of this machine. */
export function toTime(text: string): Date {
  const agoMs = parseDurationMs(text);
  if (agoMs !== undefined) return new Date(Date.now() - agoMs);
  const [, year, month, day] = (ISO.exec(text) ?? []).map(Number);
  // JavaScript would read a date without a time as UTC.
  const at = new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T'));
  const isDay = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day)).getUTCDate() === day;
  if (!isDay || Number.isNaN(at.getTime())) {
    throw new InvalidArgumentError(
      'Expected a time such as 2026-11-21 or 2026-11-21T02:00Z, or a duration such as 2h.',
    );
  }
  return at;
}
