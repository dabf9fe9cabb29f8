/** `lockstep links import FILE`: links tasks with items of a target, from a CSV. */
import path from 'node:path';
import type { Command } from '../command.ts';
import { formatCount, plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import type { ImportedLinks } from '../../mirror/links/import-links.ts';
import { LINK_FIELDS, type LinkColumns, type LinkField } from '../../mirror/links/link-columns.ts';
import { SOURCE_WORDS } from '../../mirror/links/read-links.ts';
import { importLinkFile } from '../../operator/link-import.ts';
import { quote } from '../../settings/message-parts.ts';
import type { Settings } from '../../settings/settings.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import { columnsOf } from './arguments.ts';

interface Options {
  readonly target: string;
  readonly account: string;
  readonly map?: ReadonlyMap<LinkField, string>;
  readonly header: boolean;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
}

export function addImport(links: Command, perform: Perform): void {
  links
    .command('import')
    .summary('link tasks with items from a CSV')
    .description(
      `Links tasks with items of a target, from a CSV with a column for the task (${SOURCE_WORDS}) and one for the item ` +
        '(its id or its address). The columns are recognised by their names. The whole file is checked before anything is ' +
        'written. A row that is wrong, or whose task or item already has another link, is reported with its line and ' +
        'skipped.',
    )
    .argument('<file>', 'a CSV, plain or gzip; - is stdin')
    .requiredOption('--target <name>', 'target in the settings')
    .requiredOption('--account <name>', 'account of the tasks, by its name in the settings')
    .option(
      '--map <field=column>',
      `which column fills a field, by header or number; ${LINK_FIELDS.join(', ')}`,
      columnsOf(LINK_FIELDS),
    )
    .option('--dry-run', 'check everything, and write nothing')
    .option('--replace', 'replace existing links with other tasks or items')
    .option('--no-header', 'the first line is a row; columns are then mapped by number')
    .examples(`
  $ lockstep links import links.csv --target issues --account acme --dry-run
  $ lockstep links import issues.csv --target issues --account acme --map task_id=Reference --map item_id="Issue key"
  $ zcat links.csv.gz | lockstep links import - --target issues --account acme --replace`)
    .action(perform(importThem));
}

async function importThem(session: Session, file: string, options: Options): Promise<ExitCode> {
  const { out, cwd, dataDir } = session;
  const settings = await session.settings();
  const { target, account, map = new Map(), header: hasHeader } = options;
  const { dryRun: isDryRun = false, replace: isReplacing = false } = options;
  const spoolDir = path.join(dataDir, 'received');
  const signal = session.untilStopped('Stopping. Nothing was written.');
  const { pool } = await session.openLedger();
  const source = file === '-' ? file : path.resolve(cwd, file);
  try {
    const how = { source, target, account, map, hasHeader, isReplacing, isDryRun, spoolDir, signal };
    const imported = await importLinkFile(pool, settings, how);
    out.say(...columnLines(imported.name, imported.columns));
    tell(session, settings, { target, account, isDryRun }, imported);
    return imported.counts.refused > 0 ? DONE_WITH_PROBLEMS : DONE;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new LockstepError('IMPORT_STOPPED', 'The import was stopped. Nothing was written.', { cause: error });
  }
}

function columnLines(name: string, columns: LinkColumns): readonly string[] {
  return [`${name}:`, ...LINK_FIELDS.map((field) => `  ${field}  ← ${quote(columns[field].name)}`)];
}

function tell(
  { out, hint }: Session,
  settings: Settings,
  { target, account, isDryRun }: { readonly target: string; readonly account: string; readonly isDryRun: boolean },
  { rows, counts, unlinked, unseen, refused: refusals }: ImportedLinks,
): void {
  const refused = refusals.map(({ line, code, facts }) => {
    return { line, code, message: sentenceFor(code, facts, { command: hint }) };
  });
  const said = [
    `${formatCount(counts.new)} new`,
    `${formatCount(counts.same)} already linked`,
    `${formatCount(counts.replaced)} replaced`,
    `${formatCount(counts.refused)} refused`,
  ].join(', ');
  out.say(`${isDryRun ? 'Dry run: nothing was written. ' : ''}${plural(rows, 'row')}: ${said}.`);
  out.say(...refused.map(({ code, message }) => `  ${code}  ${message}`));
  const more = counts.refused - refused.length;
  if (more > 0) out.say(`  … and ${formatCount(more)} more. Correct these, then import the file again.`);
  if (unlinked > 0) out.say(`${plural(unlinked, 'task')} outside the file lost the item to a task in the file.`);
  if (unseen > 0)
    out.say(
      `Note: ${plural(unseen, 'of these tasks is', 'of these tasks are')} unknown to every sync of ${account} so far.`,
    );
  if (!isMirrored(settings, target, account)) {
    out.say(
      `Note: no sync of the settings mirrors tasks of ${account} to ${target}, so nothing is delivered there yet.`,
    );
  }
  if (!isDryRun && counts.new + counts.replaced > 0) {
    out.say(
      `To send the deliveries that were skipped because there was no link: ${hint(`deliveries replay --target ${target} --verdict skipped`)}`,
    );
  }
  out.result({ target, account, dryRun: isDryRun, rows, counts, unlinked, unseen, refused });
}

function isMirrored(settings: Settings, target: string, account: string): boolean {
  return Object.values(settings.syncs).some(
    (sync) => sync.type === 'tasks' && sync.account === account && sync.targets.includes(target),
  );
}
