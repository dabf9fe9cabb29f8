/** `lockstep orders load FILE`: checks, plans and loads a file of orders, and reports the result of every row. */
import path from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { ENCODINGS, type Encoding } from '../../csv/encoding.ts';
import { FIELDS, type Field } from '../../csv/fields.ts';
import { accountNamed } from '../../settings/settings.ts';
import type { ExitCode } from '../errors.ts';
import { type LoadRequest, loadFile } from '../orders/load.ts';
import type { Perform, Session } from '../session.ts';
import { columnsOf } from './arguments.ts';

interface LoadOptions extends Omit<LoadRequest, 'choices'> {
  readonly map?: ReadonlyMap<Field, string>;
  readonly encoding?: Encoding;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly decimal?: '.' | ',';
  readonly accounting?: boolean;
  readonly header: boolean;
}

export function define(orders: Command, perform: Perform): void {
  orders
    .command('load')
    .summary('create orders from a CSV file, each exactly once')
    .description(
      'Checks the whole file before the first call, finds each row’s customer, shows the plan, and creates every good row ' +
        'as an order; every other row gets a reason. The same command after a crash, or in a second terminal, joins the ' +
        'load; loading the same file again creates nothing. Ctrl-C finishes the calls in flight and stops; the same ' +
        'command then resumes the load.',
    )
    .argument('<file>', 'a CSV, plain or gzip; - is stdin')
    .requiredOption('--account <name>', 'account in the settings')
    .option(
      '--map <field=column>',
      `which column fills a field, by header or number, or no column if empty; ${FIELDS.join(', ')}`,
      columnsOf(FIELDS, { mayBeNone: true }),
    )
    .option('--dry-run', 'check, resolve and plan everything, and write nothing')
    .option('--yes', 'write without asking first; without a terminal, the load never asks')
    .addOption(
      new Option('--existing <policy>', 'for an order that exists: skip it, update it, or reject its row')
        .choices(['skip', 'update', 'fail'])
        .default('skip'),
    )
    .option('--create-customers', 'create missing customers from the columns of the row')
    .option('--results <dir>', 'write every row with its result, one CSV for each verdict')
    .option('--again', 'load a file again that was loaded before')
    .option('--detach', 'leave the load to a worker (lockstep start) once it has been read')
    .addOption(
      new Option('--lane <lane>', 'share of the rate budget: interactive goes before batch')
        .choices(['interactive', 'batch'])
        .default(undefined, 'interactive up to 1 MiB, else batch'),
    )
    .addOption(new Option('--encoding <name>', 'instead of the detected one').choices(ENCODINGS))
    .option('--delimiter <character>', 'instead of the detected one; write tab for a tab', toDelimiter)
    .option('--quote <character>', 'instead of the detected one', toCharacter)
    .addOption(new Option('--decimal <sign>', 'decimal sign of the amounts').choices(['.', ',']))
    .option('--accounting', '(12.00) and 12.00- mean minus 12')
    .option('--no-header', 'the first line is a row; columns are then mapped by number')
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep orders load orders.csv --account acme --dry-run
  $ lockstep orders load orders.csv --account acme --create-customers --results results/
  $ lockstep orders load orders.csv --account acme --map order_id="Bestell-Nr." --map amount=Betrag
  $ zcat export.csv.gz | lockstep orders load - --account acme --yes`,
    )
    .action(perform(load));
}

async function load(session: Session, file: string, options: LoadOptions): Promise<ExitCode> {
  accountNamed(await session.settings(), options.account); // reports a misspelt name before the file is read
  const source = file === '-' ? file : path.resolve(session.cwd, file);
  const { map, encoding, delimiter, quote, decimal, accounting, header } = options;
  const choices = { map, encoding, delimiter, quote, decimal, accounting, hasHeader: header ? undefined : false };
  return loadFile(session, source, { ...options, choices });
}

function toDelimiter(text: string): string {
  return text === 'tab' || text === '\\t' ? '\t' : toCharacter(text);
}

function toCharacter(text: string): string {
  if (text.length !== 1) throw new InvalidArgumentError('Expected one character.');
  return text;
}
