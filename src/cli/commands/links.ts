/** `lockstep links …`: which task is linked with which item of an outside system. */
import path from 'node:path';
import { formatCount, plural } from '../../base/counts.ts';
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import type { ImportedLinks } from '../../mirror/links/import-links.ts';
import { LINK_FIELDS, type LinkColumns, type LinkField } from '../../mirror/links/link-columns.ts';
import {
  describeRemoved,
  type LinkFilter,
  type ListedLink,
  listLinks,
  removeLink,
} from '../../mirror/links/list-links.ts';
import { parseSource, SOURCE_WORDS } from '../../mirror/links/read-links.ts';
import { formatTime } from '../../operator/format.ts';
import { linkLines } from '../../operator/link-export.ts';
import { importLinkFile } from '../../operator/link-import.ts';
import { quote } from '../../settings/message-parts.ts';
import { accountChosen, accountNamed, type Settings, targetNamed } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Command } from '../command.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode } from '../errors.ts';
import { exportLines, FORCE, type Replacing, TO_STDOUT } from '../export-file.ts';
import type { Perform, Session } from '../session.ts';
import { ACCOUNT_WORDS, columnChoices, wholeNumber } from './arguments.ts';

const DEFAULT_LIMIT = 20;

interface Options {
  readonly target?: string;
  readonly account?: string;
}

export function define(links: Command, perform: Perform): void {
  links
    .description(
      'Lists which task is linked with which item (issue, task) of a target, the newest link first. A delivery of a task ' +
        'goes to its linked item. When a task without a link is delivered, it is linked with the item that its title or ' +
        'description names: ABC-12, owner/repo#12, or the address of the item. The text must name exactly one item.',
    )
    .option('--target <name>', 'target in the settings')
    .option('--account <name>', 'account in the settings')
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .examples(`
  $ lockstep links --target issues
  $ lockstep links import links.csv --target issues --account acme --dry-run
  $ lockstep links export links.csv --target issues
  $ lockstep links remove --target issues --account acme --task 12`)
    .action(perform(list));
  addImport(links, perform);
  addExport(links, perform);
  addRemove(links, perform);
}

function addExport(links: Command, perform: Perform): void {
  links
    .command('export')
    .summary('write links to a CSV')
    .description('Writes the links to a CSV that `links import` reads, the newest first.')
    .argument('<file>', 'the CSV to write; - is stdout')
    .option('--target <name>', 'target in the settings')
    .option('--account <name>', 'account in the settings')
    .option(...FORCE)
    .action(perform(exportThem));
}

async function exportThem(session: Session, file: string, { force, ...options }: Options & Replacing): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  await refuseUnknown(session, pool, options);
  const { lines } = await exportLines(session, file, linkLines(pool, await filterFrom(pool, options)), { force });
  const links = lines - 1;
  if (file !== TO_STDOUT) out.say(`${plural(links, 'link')} written to ${file}.`);
  out.result({ file: file === TO_STDOUT ? null : file, links });
}

function addRemove(links: Command, perform: Perform): void {
  links
    .command('remove')
    .summary('remove a link')
    .description(
      'Removes the link of a task; the item does not change. If the text of the task names an item of the target, the ' +
        'next delivery of the task links it with that item.',
    )
    .requiredOption('--target <name>', 'target of the link')
    .option('--account <name>', ACCOUNT_WORDS)
    .requiredOption('--task <id>', `the task: ${SOURCE_WORDS}`)
    .action(perform(remove));
}

async function list(session: Session, { limit, ...options }: Options & { limit: number }): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  await refuseUnknown(session, pool, options);
  const { links, total } = await listLinks(pool, await filterFrom(pool, options), limit);
  const titles = ['TARGET', 'ACCOUNT', 'TASK', 'ITEM', 'LINKED', 'BY'];
  out.table(titles, links.map(toLine), { none: 'No linked tasks found.' });
  if (total > links.length) out.say(`These are the newest of ${formatCount(total)}: --limit ${total} lists all.`);
  out.result({ links, total });
}

function toLine({ target, account, task, itemId, linkedAt, run }: ListedLink): readonly string[] {
  return [target, account, task, itemId, formatTime(linkedAt), run ?? 'hand'];
}

async function remove(
  session: Session,
  { target, account: name, task }: Options & { readonly target: string; readonly task: string },
): Promise<void> {
  const { out, hint } = session;
  const source = parseSource(task);
  if (source === undefined) throw wrongUse(`--task ${quote(task)} is not a task: use ${SOURCE_WORDS}`);
  const account = name ?? accountChosen(await session.settings()).name;
  const { pool } = await session.openLedger();
  await refuseUnknown(session, pool, { target, account });
  const removed = await removeLink(pool, { target, scope: await scopeNamed(pool, account), source });
  if (removed === undefined) {
    const remedy = `List all with: ${hint(`links --target ${target} --account ${account}`)}`;
    throw wrongUse(`${source} of ${account} is not linked with an item of ${target}. ${remedy}`, 'LINK_UNKNOWN');
  }
  out.say(describeRemoved(removed, { target, account, task: source }));
  out.result({ target, account, task: source, ...removed });
}

async function filterFrom(db: Queryable, { target, account }: Options): Promise<LinkFilter> {
  return { target, scope: account === undefined ? undefined : await scopeNamed(db, account) };
}

/** @throws LockstepError if a name is in neither the settings nor the ledger; a removed target or account may have links */
async function refuseUnknown(session: Session, db: Queryable, { target, account }: Options): Promise<void> {
  const settings = await session.settings();
  const hasLinks = async (options: Options) => (await listLinks(db, await filterFrom(db, options), 1)).total > 0;
  if (target !== undefined && settings.targets[target] === undefined && !(await hasLinks({ target })))
    targetNamed(settings, target);
  if (account !== undefined && settings.accounts[account] === undefined && !(await hasLinks({ account })))
    accountNamed(settings, account);
}

interface ImportOptions {
  readonly target: string;
  readonly account?: string;
  readonly map?: ReadonlyMap<LinkField, string>;
  readonly header: boolean;
  readonly dryRun?: boolean;
  readonly replace?: boolean;
}

function addImport(links: Command, perform: Perform): void {
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
    .option('--account <name>', ACCOUNT_WORDS)
    .option(
      '--map <field=column>',
      `which column fills a field, by header or number; ${LINK_FIELDS.join(', ')}`,
      columnChoices(LINK_FIELDS),
    )
    .option('--dry-run', 'check everything, and write nothing')
    .option('--replace', 'replace the links that a task or an item of the file already has')
    .option('--no-header', 'the first line is a row; columns are then mapped by number')
    .examples(`
  $ lockstep links import links.csv --target issues --account acme --dry-run
  $ lockstep links import issues.csv --target issues --account acme --map task_id=Reference --map item_id="Issue key"
  $ zcat links.csv.gz | lockstep links import - --target issues --account acme --replace`)
    .action(perform(importThem));
}

async function importThem(session: Session, file: string, options: ImportOptions): Promise<ExitCode> {
  const { out, cwd, dataDir } = session;
  const settings = await session.settings();
  const { target, map = new Map(), header: hasHeader } = options;
  const account = accountChosen(settings, options.account).name;
  const { dryRun: isDryRun = false, replace: isReplacing = false } = options;
  const spoolDir = path.join(dataDir, 'received');
  const signal = session.untilStopped('Stopping. Press Ctrl-C again to stop at once.');
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
