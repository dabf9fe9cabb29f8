/** Arguments that several commands take, parsed where the command line is: each throws what commander reports. */
import { InvalidArgumentError } from 'commander';

/** Above 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('Expected a whole number above 0.');
  return Number(text);
}

/** 0 stands for any free port. */
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
