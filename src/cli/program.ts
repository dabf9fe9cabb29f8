/** The command line as commander sees it: global options, every command, and help that teaches. */
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { z } from 'zod';
import { didYouMean, oneOf, quote } from '../settings/words.ts';
import { addAccounts } from './commands/accounts.ts';
import { addCall } from './commands/call.ts';
import { addDeliveries } from './commands/deliveries.ts';
import { addDemo } from './commands/demo.ts';
import { addDoctor } from './commands/doctor.ts';
import { addLinks } from './commands/links.ts';
import { addOrders } from './commands/orders.ts';
import { addRun } from './commands/run.ts';
import { addRuns } from './commands/runs.ts';
import { addService } from './commands/service.ts';
import { addSettings } from './commands/settings.ts';
import { addStart } from './commands/start.ts';
import { wrongUse } from './errors.ts';
import type { TextStream } from './screen.ts';
import { DEFAULT_DATA, type GlobalOptions, type Perform, type Work } from './session.ts';

const EXIT_CODES = `
Exit codes: 0 done, every row settled well · 1 finished, but some rows were rejected, failed or need review ·
  2 wrong use or settings · 3 the run failed or was cancelled.`;

const EXAMPLES = `
Examples:
  $ lockstep demo                        see it work, with nothing to set up
  $ lockstep settings check              check config/lockstep.yaml
  $ lockstep doctor --account acme       find out how a live service behaves
  $ lockstep run nightly-contacts        run a sync now and follow it
  $ lockstep runs                        what ran, and what came of it
  $ lockstep start                       work on schedule until stopped`;

/** Parsing throws CommanderError for wrong use, and also once help or the version was shown. */
export function buildProgram(
  streams: { stdout: TextStream; stderr: TextStream },
  work: (options: GlobalOptions, command: Work<[]>) => Promise<void>,
): Command {
  const program = new Command('lockstep')
    .description(
      'Keeps a Sales & Productivity workspace in lockstep with the systems around it: imports contacts as order ' +
        'customers, losing nothing and doubling nothing, under one rate budget per API key.',
    )
    .option('--config <file>', 'settings file (default: config/lockstep.yaml, else the one that comes with Lockstep)')
    .option('--data <dir>', 'where the embedded Postgres and local keys are kept', DEFAULT_DATA)
    .option('--json', 'print one JSON object as the last line of stdout, and nothing else there', false)
    .option('--verbose', 'log everything on stderr, and show the stack of errors', false)
    .version(version(), '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: () => undefined, // errors are said once, by main
      getOutHelpWidth: () => streams.stdout.columns ?? 100,
      getOutHasColors: () => false,
    })
    .exitOverride()
    .allowExcessArguments() // refused here, with the subcommand that was meant
    .hook('preAction', (_program, command) => refuseExcessWord(command))
    .addHelpText('after', EXAMPLES)
    .addHelpText('afterAll', EXIT_CODES);
  const perform: Perform =
    (command) =>
    (...args) =>
      work(program.opts<GlobalOptions>(), (session) => command(session, ...args));
  for (const add of [
    addDemo,
    addRun,
    addOrders,
    addRuns,
    addDeliveries,
    addLinks,
    addAccounts,
    addDoctor,
    addCall,
    addSettings,
    addService,
    addStart,
  ])
    add(program, perform);
  return program;
}

/** After a command that does something by itself and has subcommands, such a word is a misspelt one. @throws LockstepError USAGE */
function refuseExcessWord(command: Command): void {
  const word = command.args[command.registeredArguments.length];
  if (word === undefined) return;
  const known = command.commands.map((one) => one.name());
  if (known.length === 0) throw wrongUse(`too many arguments for ${command.name()}: ${quote(word)}`);
  throw wrongUse(
    `unknown command ${quote(word)} after ${command.name()}${didYouMean(word, known)} (there is ${oneOf(known)})`,
  );
}

function version(): string {
  const manifest: unknown = createRequire(import.meta.url)('../../package.json');
  return z.object({ version: z.string() }).parse(manifest).version;
}
