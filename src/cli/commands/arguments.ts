/** Parsers for arguments that several commands take. Each throws an error that commander reports. */
import { type Command, InvalidArgumentError } from 'commander';
import { didYouMean, oneOf, quote } from '../../settings/words.ts';

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
export function columnsOf<Field extends string>(fields: readonly Field[], { mayBeNone = false } = {}) {
  return (text: string, earlier: ReadonlyMap<Field, string> = new Map()): ReadonlyMap<Field, string> => {
    const at = text.indexOf('=');
    const [name, column] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || (column === '' && !mayBeNone))
      throw new InvalidArgumentError(`Expected FIELD=COLUMN${mayBeNone ? ', or FIELD= for none' : ''}.`);
    const field = fields.find((one) => one === name);
    if (field) return new Map([...earlier, [field, column]]);
    throw new InvalidArgumentError(`No field ${quote(name)}${didYouMean(name, fields)} (there is ${oneOf(fields)}).`);
  };
}

/** The options of a command. Commander gives options that the parent has too to the parent. */
export function withParentOptions<Options extends object>(command: Command): Options {
  return { ...command.parent?.opts(), ...command.opts<Options>() };
}
