/** `lockstep orders load FILE`: checks, plans and loads a file of orders, and reports the result of every row. */
import path from 'node:path';
import { InvalidArgumentError } from 'commander';
import { wrongUse } from '../../base/errors.ts';
import { LANES } from '../../client/budget/budget.ts';
import { COMBINE, type CombineChoice } from '../../csv/combine.ts';
import { ENCODINGS, type Encoding } from '../../csv/encoding.ts';
import { FIELDS, type Field } from '../../csv/fields.ts';
import type { Where } from '../../csv/presets.ts';
import { EXISTING } from '../../settings/schema-sync.ts';
import { accountChosen } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import { DONE, type ExitCode } from '../errors.ts';
import { FORCE, type Replacing } from '../export-file.ts';
import { type LoadRequest, loadFile } from '../orders/load.ts';
import { resultsDir } from '../orders/results-dir.ts';
import { writeTemplate } from '../orders/template.ts';
import { planPath } from '../plan-file.ts';
import type { Perform, Session } from '../session.ts';
import { ACCOUNT_WORDS, columnChoices, toWhere, wholeNumber } from './arguments.ts';

interface LoadOptions extends Omit<LoadRequest, 'choices' | 'account'>, Replacing {
  readonly account?: string;
  readonly template?: boolean;
  readonly preset?: string;
  readonly combineLines?: CombineChoice;
  readonly headerRow?: number;
  readonly where?: Where;
  readonly limit?: number;
  readonly map?: ReadonlyMap<Field, string>;
  readonly encoding?: Encoding;
  readonly delimiter?: string;
  readonly quote?: string;
  readonly decimal?: '.' | ',';
  readonly accounting?: boolean;
  readonly header: boolean;
}

const EXAMPLES = `
  $ lockstep orders load orders.csv --account acme --dry-run
  $ lockstep orders load orders.csv --account acme --plan orders.plan
  $ lockstep orders load orders.csv --account acme --create-customers --results results/
  $ lockstep orders load orders.csv --account acme --map order_id="Bestell-Nr." --map amount=Betrag
  $ lockstep orders load shopify.csv --account acme --limit 10
  $ lockstep orders load stripe.csv --account acme --where Status=Paid --where Currency=eur
  $ zcat export.csv.gz | lockstep orders load - --account acme --yes`;

export function define(orders: Command, perform: Perform): void {
  orders.description('Loads orders from CSV files, and writes an empty file to fill in.');
  defineLoad(orders, perform);
  orders
    .command('template')
    .summary('write an empty CSV with the columns of orders')
    .description('Writes a CSV with a header and no row.')
    .argument('[file]', 'where to write; - is stdout', 'orders.csv')
    .option(...FORCE)
    .action(perform(writeTemplate));
}

function defineLoad(orders: Command, perform: Perform): void {
  orders
    .command('load')
    .summary('create orders from a CSV file, each exactly once')
    .description(
      'Checks the whole file before the first call, finds each row’s customer, shows the plan, and creates every good row ' +
        'as an order; every other row gets a reason. The same command after a crash, or in a second terminal, joins the ' +
        'load; loading the same file again creates nothing. Ctrl-C finishes the calls in flight and stops; the same ' +
        'command then resumes the load.',
    )
    .argument('[file]', 'a CSV, plain or gzip; - is stdin')
    .option('--account <name>', ACCOUNT_WORDS)
    .option(
      '--map <field=column>',
      `which column fills a field, by header or number, or no column if empty; ${FIELDS.join(', ')}`,
      columnChoices(FIELDS, { mayBeNone: true }),
    )
    .option('--preset <name>', 'read the file with this preset instead of the recognised one; none: without a preset')
    .choice(
      '--combine-lines <how>',
      'make one order of neighbouring lines with the same order_id: sum their amounts and join their descriptions, or ' +
        'take the first; or none, whatever the preset says',
      COMBINE,
    )
    .option(
      '--where <column=value>',
      'load only orders with this value in a column; COLUMN!=VALUE: with any other value. Repeated for one column: one of the ' +
        'values; for several columns: all conditions have to hold',
      toWhere,
    )
    .option('--limit <orders>', 'load only this many orders, from the beginning of the file', wholeNumber)
    .option('--dry-run', 'check and plan everything, and write nothing')
    .option('--plan <file>', 'a dry run that saves what it would write, for lockstep apply')
    .option('--yes', 'write without asking first; without a terminal, the load never asks')
    .option(
      '--approve-above <rows>',
      'wait for approval if more rows than this would be written, even with --yes',
      wholeNumber,
    )
    .choice('--existing <policy>', 'for an order that exists: skip it, update it, or reject its row', EXISTING, 'skip')
    .option('--create-customers', 'create missing customers from the columns of the row')
    .option('--results <dir>', 'write every line with its result to DIR/FILE.results.csv, and one CSV for each verdict')
    .option('--again', 'check every row again, although the file was loaded before')
    .option('--detach', 'leave the load to a worker (lockstep start) once it has been read')
    .choice(
      '--lane <lane>',
      'share of the rate budget: interactive goes before batch; default: interactive up to 1 MiB, otherwise batch',
      LANES,
    )
    .choice('--encoding <name>', 'encoding of the file, instead of the detected one', ENCODINGS)
    .option(
      '--delimiter <character>',
      'delimiter of the cells, instead of the detected one; write tab for a tab',
      (text: string) => (text === 'tab' || text === '\\t' ? '\t' : toCharacter(text)),
    )
    .option('--quote <character>', 'quote around cells, instead of the detected one', toCharacter)
    .choice('--decimal <sign>', 'decimal sign of the amounts', ['.', ','])
    .option('--accounting', 'read (12.00) and 12.00- as minus 12')
    .option('--header-row <line>', 'line of the header, instead of the detected one', wholeNumber)
    .option('--no-header', 'the first line is a row; columns are then mapped by number')
    .option('--template', 'write an empty file instead, as orders template does')
    .option('--force', 'replace the file of --plan or --template if it exists')
    .examples(EXAMPLES)
    .action(perform(load));
}

async function load(session: Session, file: string | undefined, options: LoadOptions): Promise<ExitCode> {
  if (options.template === true) {
    await writeTemplate(session, file, options);
    return DONE;
  }
  const { header, headerRow: headerLine } = options;
  if (file === undefined) throw wrongUse('orders load needs the name of a file, such as orders.csv, or - for stdin');
  if (!header && headerLine !== undefined)
    throw wrongUse('--header-row and --no-header exclude each other: leave one out');
  const plan = await planPath(session.cwd, options);
  const results = options.results && (await resultsDir(session.cwd, options.results));
  const account = accountChosen(await session.settings(), options.account).name; // a misspelt one is reported before the file is read
  const source = file === '-' ? file : path.resolve(session.cwd, file);
  const { map, preset, combineLines, where, limit, encoding, delimiter, quote, decimal, accounting } = options;
  const choices = {
    map,
    preset,
    combineLines,
    where,
    limit,
    encoding,
    delimiter,
    quote,
    decimal,
    accounting,
    headerLine,
  };
  const hasHeader = header ? undefined : false;
  return loadFile(session, source, { ...options, account, results, plan, choices: { ...choices, hasHeader } });
}

function toCharacter(text: string): string {
  if (text.length !== 1) throw new InvalidArgumentError('Expected one character.');
  return text;
}
