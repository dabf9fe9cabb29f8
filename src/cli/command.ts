/** A command of commander, with what the definitions of commands repeat. */
import { Command as Base, Option } from 'commander';

export class Command extends Base {
  declare readonly commands: readonly Command[];
  declare parent: Command | null;

  override createCommand(name?: string): Command {
    return new Command(name);
  }

  /** Shows these lines under its options. */
  examples(lines: string): this {
    return this.addHelpText('after', `\nExamples:${lines}`);
  }

  /** An option that takes one of `choices`. */
  choice(flags: string, description: string, choices: readonly string[], byDefault?: string): this {
    return this.addOption(new Option(flags, description).choices(choices).default(byDefault));
  }
}
