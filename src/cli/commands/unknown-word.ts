/** A word after a command that does something by itself and has subcommands: it can only be a misspelt one. */
import type { Command } from 'commander';
import { didYouMean, oneOf, quote } from '../../settings/words.ts';
import { wrongUse } from '../errors.ts';

/** @throws LockstepError USAGE */
export function refuseUnknownWord(command: Command): void {
  const word = command.args[0];
  if (word === undefined) return;
  const known = command.commands.map((one) => one.name());
  throw wrongUse(
    `unknown command ${quote(word)} after ${command.name()}${didYouMean(word, known)} (there is ${oneOf(known)})`,
  );
}
