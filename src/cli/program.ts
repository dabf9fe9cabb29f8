/** The command line for commander: global options, the commands, and help with examples. */

import { Command, Help, type Option } from 'commander';
import { wrongUse } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { didYouMean, oneOf, quote } from '../settings/message-parts.ts';
import { DEFAULT_DATA, type GivenOptions, type GlobalOptions, NOT_GIVEN } from './global-options.ts';
import type { TextStream } from './print/screen.ts';
import type { Perform, Work } from './session.ts';

const EXIT_CODES = `
Exit codes: 0 done · 1 done, but something needs a person: for a run, rows that
  were rejected, failed or need review, or records that may have been missed ·
  2 usage or settings error · 3 failed; for a run, also cancelled, not approved
  or unfinished (--json: state).`;

const EXAMPLES = `
Examples:
  $ lockstep demo                        see it work, with nothing to set up
  $ lockstep settings check              check config/lockstep.yaml
  $ lockstep doctor --account acme       find out how a live service behaves
  $ lockstep run nightly-contacts        run a sync now and follow it
  $ lockstep runs                        list the newest runs and their results
  $ lockstep start                       run continuously, with schedules`;

/** A command with everything that its module defines. */
type Loaded = (command: Command) => Promise<Command>;

interface LazyCommand {
  readonly name: string;
  readonly summary: string;
  /** The module that adds description, options, subcommands and action. */
  load(): Promise<{ define(command: Command, perform: Perform, loaded: Loaded): void }>;
}

/** Each module is loaded when its command is used: loading all of them would slow down `--help`. */
const COMMANDS: readonly LazyCommand[] = [
  {
    name: 'demo',
    summary: 'see contacts synced, orders loaded and tasks mirrored, with everything embedded',
    load: () => import('./commands/demo.ts'),
  },
  { name: 'run', summary: 'run a configured sync now and follow it', load: () => import('./commands/run.ts') },
  {
    name: 'apply',
    summary: 'make the writes of a saved plan, and no others',
    load: () => import('./commands/apply.ts'),
  },
  {
    name: 'syncs',
    summary: 'list the syncs with their next starts, pause and resume them',
    load: () => import('./commands/syncs.ts'),
  },
  { name: 'orders', summary: 'load orders from a CSV file', load: () => import('./commands/orders.ts') },
  {
    name: 'status',
    summary: 'show what needs a person, what runs, and what starts next',
    load: () => import('./commands/status.ts'),
  },
  {
    name: 'runs',
    summary: 'list, show, cancel, resume, retry and export runs',
    load: () => import('./commands/runs.ts'),
  },
  {
    name: 'review',
    summary: 'list what waits for a person, and decide it',
    load: () => import('./commands/review.ts'),
  },
  {
    name: 'deliveries',
    summary: 'list, show and replay deliveries to outside systems',
    load: () => import('./commands/deliveries.ts'),
  },
  {
    name: 'targets',
    summary: 'check targets, and set up the webhooks that report their changes',
    load: () => import('./commands/targets.ts'),
  },
  {
    name: 'alerts',
    summary: 'list alert channels and open alerts, and test the channels',
    load: () => import('./commands/alerts.ts'),
  },
  {
    name: 'ledger',
    summary: 'show how much is stored, delete old data, and export runs',
    load: () => import('./commands/ledger.ts'),
  },
  {
    name: 'data',
    summary: 'copy the embedded Postgres into one of your own',
    load: () => import('./commands/data.ts'),
  },
  {
    name: 'links',
    summary: 'list, import and remove links between tasks and outside items',
    load: () => import('./commands/links.ts'),
  },
  {
    name: 'accounts',
    summary: 'show or confirm which tenant each account is',
    load: () => import('./commands/accounts.ts'),
  },
  { name: 'doctor', summary: 'find out how a live service behaves', load: () => import('./commands/doctor.ts') },
  { name: 'call', summary: 'call one operation of the service', load: () => import('./commands/call.ts') },
  {
    name: 'settings',
    summary: 'check or print the settings, or their JSON Schema',
    load: () => import('./commands/settings.ts'),
  },
  {
    name: 'service',
    summary: 'serve the Sales & Productivity API alone, or administer it',
    load: () => import('./commands/service.ts'),
  },
  {
    name: 'start',
    summary: 'run continuously: work on runs and start syncs on schedule',
    load: () => import('./commands/start.ts'),
  },
  {
    name: 'completion',
    summary: 'make your shell complete commands, options and names',
    load: () => import('./commands/completion.ts'),
  },
];

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
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES);
  const perform: Perform =
    (command) =>
    (...args) =>
      work({ ...NOT_GIVEN, ...program.opts<GivenOptions>() }, (session) => command(session, ...args));
  const byName = new Map(COMMANDS.map((one) => [one.name, one]));
  for (const { name, summary } of COMMANDS) program.command(name).summary(summary);
  const loaded: Loaded = async (command) => {
    if (command.parent === program) (await byName.get(command.name())?.load())?.define(command, perform, loaded);
    prepare(command, command.name());
    return command;
  };
  program.hook('preSubcommand', async (_program, command) => void (await loaded(command)));
  return program;
}

/** Only the options of `lockstep` itself apply to every command. */
function visibleGlobalOptions(command: Command): Option[] {
  if (command.parent === null) return [];
  return command.parent.parent === null ? [...command.parent.options] : visibleGlobalOptions(command.parent);
}

/** Commander does not show which options are required. */
function optionDescription(option: Option): string {
  return `${new Help().optionDescription(option)}${option.mandatory ? ' (required)' : ''}`;
}

/** Errors of a command and its subcommands name their own help, and options go to the subcommand that follows. */
function prepare(command: Command, path: string): void {
  command.exitOverride((error) => {
    throw Object.assign(error, { helpOf: path });
  });
  command.hook('preSubcommand', handDown);
  for (const one of command.commands) prepare(one, `${path} ${one.name()}`);
}

/** If a command and its subcommand share an option, commander assigns it to the command, wherever it is on the line. */
function handDown(command: Command, subcommand: Command): void {
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
function refuseExcessWord(command: Command): void {
  const word = command.args[command.registeredArguments.length];
  if (word === undefined || command.registeredArguments.at(-1)?.variadic === true) return;
  const known = command.commands.map((one) => one.name());
  if (known.length === 0) throw wrongUse(`too many arguments for ${command.name()}: ${quote(word)}`);
  throw wrongUse(
    `unknown command ${quote(word)} after ${command.name()}${didYouMean(word, known)} (there is ${oneOf(known)})`,
  );
}
