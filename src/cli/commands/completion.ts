/** `lockstep completion`: scripts by which a shell completes commands, options and names from the settings. */
import { Argument, type Command } from 'commander';
import type { Settings } from '../../settings/settings.ts';
import type { Perform, Session } from '../session.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Each asks `lockstep completion words -- WORD…` for the words that may replace the last WORD. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_lockstep() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(lockstep completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _lockstep lockstep`,
  zsh: `#compdef lockstep
_lockstep() {
  local -a found
  found=("\${(@f)$(lockstep completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _lockstep lockstep`,
  fish: `complete -c lockstep -a '(lockstep completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};

export function define(completion: Command, perform: Perform, loaded: (command: Command) => Promise<Command>): void {
  completion
    .description('Prints a script that makes a shell complete commands, options, and names of the settings.')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(lockstep completion bash)                    # in ~/.bashrc
  $ source <(lockstep completion zsh)                     # in ~/.zshrc, after compinit
  $ lockstep completion fish > ~/.config/fish/completions/lockstep.fish`,
    )
    .action(perform((session, shell: Shell) => session.out.content(`${SCRIPTS[shell]}\n`)));
  completion
    .command('words', { hidden: true })
    .argument('[words...]')
    .action(
      perform(async (session, words: readonly string[]) => {
        const root = completion.parent ?? completion;
        const found = await candidates(session, root, words, loaded);
        await session.out.content(found.map((word) => `${word}\n`).join(''));
      }),
    );
}

/** What may replace the last of `words`. */
async function candidates(
  session: Session,
  root: Command,
  words: readonly string[],
  loaded: (command: Command) => Promise<Command>,
): Promise<readonly string[]> {
  let command = root;
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = await loaded(next);
  }
  const [before = '', last = ''] = [words.at(-2), words.at(-1)];
  const option = [...command.options, ...root.options].find(({ long }) => long === before);
  if (option !== undefined && (option.required || option.optional))
    return option.argChoices ?? (await namesFor(session, before));
  if (last.startsWith('-')) {
    const options = [...command.options, ...root.options].flatMap(({ long, hidden }) => (hidden ? [] : (long ?? [])));
    return [...new Set([...options, '--help'])];
  }
  const subcommands = command.createHelp().visibleCommands(command);
  const names = command.name() === 'run' ? await namesFor(session, 'sync') : [];
  return [...subcommands.map((one) => one.name()), ...names];
}

/** Names of the settings, where an option or an argument takes one. */
async function namesFor(session: Session, what: string): Promise<readonly string[]> {
  const section = SECTIONS.get(what);
  if (section === undefined) return [];
  const settings = await session.settings({ orDefault: true }).catch(() => undefined); // a broken file completes nothing
  return Object.keys(settings?.[section] ?? {});
}

const SECTIONS = new Map<string, keyof Pick<Settings, 'accounts' | 'syncs' | 'targets'>>([
  ['--account', 'accounts'],
  ['--target', 'targets'],
  ['--sync', 'syncs'],
  ['sync', 'syncs'],
  ['target', 'targets'],
]);
