/** The command line for commander: global options, the commands, and help with examples. */
import { type Command as AnyCommand, Help, type Option } from 'commander';
import { wrongUse } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { didYouMean, oneOf, quote } from '../settings/message-parts.ts';
import { Command } from './command.ts';
import { DEFAULT_DATA, type GivenOptions, type GlobalOptions, NOT_GIVEN } from './global-options.ts';
import type { TextStream } from './print/screen.ts';
import type { Perform, Work } from './session.ts';

const EXIT_CODES = `
Exit codes of every command:
  0  done
  1  done, but something needs a person: rows of a run were rejected, failed or
     need review, or records may have been missed
  2  a usage or settings error
  3  failed; a run also if it was cancelled, not approved or is unfinished
     (\`state\` in the result of --json)`;

const EXAMPLES = `
  $ lockstep demo                        see it work, with nothing to set up
  $ lockstep settings check              check config/lockstep.yaml
  $ lockstep doctor --account acme       find out how a live service behaves
  $ lockstep run nightly-contacts        run a sync now and follow it
  $ lockstep runs                        list the newest runs and their results
  $ lockstep start                       run continuously, with schedules`;

/** A command with everything that its module defines. */
type Loaded = (command: Command) => Promise<Command>;

/** `load`: its module, which adds description, options, subcommands and action. */
type LazyCommand = readonly [
  summary: string,
  load: () => Promise<{ define(command: Command, perform: Perform, loaded: Loaded): void }>,
];

/** Global options that a command does not use: the demo writes settings of its own. */
const UNUSED: Readonly<Record<string, readonly string[]>> = { demo: ['config', 'init'] };

/** Each module is loaded when its command is used: loading all of them would slow down `--help`. */
const COMMANDS: Readonly<Record<string, LazyCommand>> = {
  demo: [
    'see contacts synced, orders loaded and tasks mirrored, with everything embedded',
    () => import('./commands/demo.ts'),
  ],
  run: ['run a configured sync now and follow it', () => import('./commands/run.ts')],
  apply: ['make the writes of a saved plan, and no others', () => import('./commands/apply.ts')],
  syncs: ['list the syncs with their next starts, pause and resume them', () => import('./commands/syncs.ts')],
  orders: ['load orders from a CSV file', () => import('./commands/orders.ts')],
  status: ['show what needs a person, what runs, and what starts next', () => import('./commands/status.ts')],
  runs: ['list, show, cancel, resume, retry and export runs', () => import('./commands/runs.ts')],
  review: ['list what waits for a person, and decide it', () => import('./commands/review.ts')],
  deliveries: ['list, show and replay deliveries to outside systems', () => import('./commands/deliveries.ts')],
  targets: ['check targets, and set up the webhooks that report their changes', () => import('./commands/targets.ts')],
  alerts: ['list alert channels and open alerts, and test the channels', () => import('./commands/alerts.ts')],
  activity: ['list what people did in the console', () => import('./commands/activity.ts')],
  queues: ['list the jobs that workers share', () => import('./commands/queues.ts')],
  ledger: ['show how much is stored, delete old data, and export runs', () => import('./commands/ledger.ts')],
  data: ['copy the embedded Postgres into one of your own', () => import('./commands/data.ts')],
  links: ['list, import and remove links between tasks and outside items', () => import('./commands/links.ts')],
  accounts: [
    'show or confirm which tenant each account is, suspend and resume it',
    () => import('./commands/accounts.ts'),
  ],
  doctor: ['find out how a live service behaves', () => import('./commands/doctor.ts')],
  call: ['call one operation of the service', () => import('./commands/call.ts')],
  settings: ['check or print the settings, or their JSON Schema', () => import('./commands/settings.ts')],
  service: ['serve the Sales & Productivity API alone, or administer it', () => import('./commands/service.ts')],
  start: ['run continuously: work on runs and start syncs on schedule', () => import('./commands/start.ts')],
  completion: ['make your shell complete commands, options and names', () => import('./commands/completion.ts')],
};

/** Parsing throws CommanderError for wrong use, and also after help or the version was shown. */
export function buildProgram(
  streams: { stdout: TextStream; stderr: TextStream },
  work: (options: GlobalOptions, command: Work<[]>) => Promise<void>,
): Command {
  const program = new Command('lockstep')
    .description(
      'Keeps a Sales & Productivity workspace in sync with other systems: imports contacts as order customers, creates ' +
        'orders from CSV files and mirrors tasks, without losses or duplicates, within one rate budget per API key.',
    )
    .option('--config <file>', 'settings file (default: config/lockstep.yaml)')
    .option('--data <dir>', 'where the embedded Postgres and local keys are kept', DEFAULT_DATA)
    .option('--json', 'print the result as one JSON object on the last line of stdout, and no text for people')
    .option('--init', 'create the settings file and the data directory if they are missing')
    .option('--verbose', 'log everything on stderr, and show the stack of errors')
    .version(version(), '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions, optionDescription, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: () => undefined, // main prints each error once
      getOutHelpWidth: () => streams.stdout.columns ?? 100,
      getOutHasColors: () => false,
    })
    .exitOverride()
    .allowExcessArguments() // refuseExcessWord refuses them and suggests a subcommand
    .hook('preAction', (_program, command) => refuseExcessWord(command))
    .examples(EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .hook('preAction', (_program, command) => refuseUnused(program, command));
  const perform: Perform =
    (command) =>
    (...args) =>
      work({ ...NOT_GIVEN, ...program.opts<GivenOptions>() }, (session) => command(session, ...args));
  for (const [name, [summary]] of Object.entries(COMMANDS)) program.command(name).summary(summary);
  const loaded: Loaded = async (command) => {
    const [, load] = (command.parent === program && COMMANDS[command.name()]) || [];
    (await load?.())?.define(command, perform, loaded);
    prepare(command, command.name());
    return command;
  };
  refuseUnknownBeforeHelp(program);
  program.helpCommand(false); // that of commander shows a command before its module is loaded
  program
    .command('help')
    .summary('show the help of a command')
    .argument('[command...]', 'a command, and the subcommand after it')
    .action((words: readonly string[]) => showHelp(program, words, loaded));
  program.hook('preSubcommand', async (_program, command) => void (await loaded(command as Command)));
  return program;
}

/** Shows the help of the command that these words name. @throws LockstepError USAGE */
async function showHelp(program: Command, words: readonly string[], loaded: Loaded): Promise<void> {
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) throw unknownWord(command, word);
    command = await loaded(next);
  }
  command.help();
}

/** Only the options of `lockstep` itself apply to every command. */
function visibleGlobalOptions(command: AnyCommand): Option[] {
  if (command.parent === null) return [];
  if (command.parent.parent !== null) return visibleGlobalOptions(command.parent);
  return command.parent.options.filter((option) => !UNUSED[command.name()]?.includes(option.attributeName()));
}

/** An option that does nothing would mislead. @throws CommanderError */
function refuseUnused(program: AnyCommand, command: AnyCommand): void {
  const given = UNUSED[command.name()]?.find((name) => program.getOptionValueSource(name) === 'cli');
  if (given !== undefined) command.error(`error: unknown option '--${given}'`, { code: 'commander.unknownOption' });
}

/** Commander does not show which options are required. */
function optionDescription(option: Option): string {
  return `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;
}

/** Errors of a command and its subcommands name their own help, and options go to the subcommand that follows. */
function prepare(command: AnyCommand, path: string): void {
  command.exitOverride((error) => {
    const word = command.parent?.args[1]; // the subcommand, even if an option that both have is what is wrong
    const isSubcommand = command.commands.some((one) => one.name() === word);
    throw Object.assign(error, { helpOf: isSubcommand ? `${path} ${word}` : path });
  });
  command.hook('preSubcommand', handDown);
  refuseUnknownBeforeHelp(command);
  for (const one of command.commands) prepare(one, `${path} ${one.name()}`);
}

/** If a command and its subcommand share an option, commander assigns it to the command, wherever it is on the line. */
function handDown(command: AnyCommand, subcommand: AnyCommand): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') continue;
    if (!subcommand.options.some(({ long }) => long === option.long)) {
      subcommand.error(`error: unknown option '${option.long}'`, { code: 'commander.unknownOption' });
    }
    subcommand.setOptionValueWithSource(name, command.getOptionValue(name), 'cli');
  }
}

/** After a command that has subcommands, an extra word is probably a misspelt subcommand. @throws LockstepError USAGE */
function refuseExcessWord(command: AnyCommand): void {
  const word = command.args[command.registeredArguments.length];
  if (word === undefined || command.registeredArguments.at(-1)?.variadic === true) return;
  throw unknownWord(command, word);
}

/** Otherwise `lockstep runs approve --help` would show the help of `runs`. @throws LockstepError USAGE */
function refuseUnknownBeforeHelp(command: AnyCommand): void {
  command.on('beforeHelp', () => {
    const word = command.args[command.registeredArguments.length];
    const isKnown = command.commands.some((one) => one.name() === word);
    if (command.commands.length > 0 && !isKnown && !word?.startsWith('-')) refuseExcessWord(command);
  });
}

function unknownWord(command: AnyCommand, word: string): Error {
  const known = command.commands.map((one) => one.name());
  if (known.length === 0) return wrongUse(`Too many arguments for ${command.name()}: ${quote(word)}`);
  return wrongUse(
    `Unknown command ${quote(word)} after ${command.name()}${didYouMean(word, known)} (expected ${oneOf(known)})`,
  );
}
