/** `lockstep completion`: scripts by which a shell completes commands, options and names from the settings. */
import path from 'node:path';
import { Argument, type Option } from 'commander';
import { operations } from '../../contract/operations.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { recentRuns } from '../recent-runs.ts';
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
  fish: `function __lockstep
  set -l found (lockstep completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c lockstep -f -a '(__lockstep)'`,
};

export function define(completion: Command, perform: Perform, loaded: (command: Command) => Promise<Command>): void {
  completion
    .description('Prints a script that makes a shell complete commands, options, and names of the settings.')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .examples(`
  $ source <(lockstep completion bash)                    # in ~/.bashrc
  $ source <(lockstep completion zsh)                     # in ~/.zshrc, after compinit
  $ lockstep completion fish > ~/.config/fish/completions/lockstep.fish`)
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
  const { command, position, option, given } = await readLine(root, words.slice(0, -1), loaded);
  if (option !== undefined) return option.argChoices ?? (await namesFor(session, option.long ?? '', given));
  if (words.at(-1)?.startsWith('-')) return optionNames(command, root);
  const argument = command.registeredArguments[position];
  const names = argument?.argChoices ?? (await namesFor(session, argument?.name() ?? '', given));
  const subcommands = position === 0 ? command.createHelp().visibleCommands(command) : [];
  return [...subcommands.map((one) => one.name()), ...names];
}

/** The command of these words, and what the word after them is: the value of an option, or an argument by its position. */
async function readLine(root: Command, words: readonly string[], loaded: (command: Command) => Promise<Command>) {
  const given: Record<string, string> = {};
  let command = root;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (option !== undefined) given[option.attributeName()] = word;
    else if (next !== undefined && position === 0) command = await loaded(next);
    else if (!word.startsWith('-') && word !== 'help') position++;
    const known = [...command.options, ...root.options].find(({ long }) => long === word);
    option = option === undefined && known?.required ? known : undefined;
  }
  return { command, position, option, given };
}

function optionNames(command: Command, root: Command): readonly string[] {
  const shown = [...command.options, ...root.options].filter(({ hidden }) => !hidden);
  return [...new Set([...shown.flatMap(({ long }) => long ?? []), '--help'])];
}

/** Names that an option or an argument takes, with --config and --data as they are `given` on the line. */
async function namesFor(
  session: Session,
  what: string,
  given: { readonly config?: string; readonly data?: string },
): Promise<readonly string[]> {
  const { cwd, env } = session;
  if (what === 'run') return recentRuns(given.data === undefined ? session.dataDir : path.resolve(cwd, given.data));
  if (what === 'operation') return Object.keys(operations);
  const section = SECTIONS.get(what);
  if (section === undefined) return [];
  const reading =
    given.config === undefined ? session.settings() : loadSettings({ configFile: given.config, env, cwd });
  const settings = await reading.catch(() => undefined); // a broken file completes nothing
  return Object.keys(settings?.[section] ?? {});
}

const SECTIONS = new Map<string, keyof Pick<Settings, 'accounts' | 'syncs' | 'targets' | 'alerts'>>([
  ['--account', 'accounts'],
  ['account', 'accounts'],
  ['--target', 'targets'],
  ['target', 'targets'],
  ['--sync', 'syncs'],
  ['sync', 'syncs'],
  ['channel', 'alerts'],
]);
