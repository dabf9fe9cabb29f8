/** `lockstep links …`: which task is which item of an outside system. */
import type { Command } from 'commander';
import type { Queryable } from '../../engine/ledger/runs.ts';
import { scopeNamed } from '../../engine/ledger/scopes.ts';
import { type LinkFilter, type ListedLink, listLinks, removeLink } from '../../links/list-links.ts';
import { parseSource, SOURCE_WORDS } from '../../links/read-links.ts';
import { accountNamed, targetNamed } from '../../settings/settings.ts';
import { quote } from '../../settings/words.ts';
import { wrongUse } from '../errors.ts';
import { table } from '../output.ts';
import type { Perform, Session } from '../session.ts';
import { formatCount, formatTime } from '../words.ts';
import { wholeNumber, withParentOptions } from './arguments.ts';
import { addImport } from './links-import.ts';

const DEFAULT_LIMIT = 20;

interface Options {
  readonly target?: string;
  readonly account?: string;
}

export function addLinks(program: Command, perform: Perform): void {
  const links = program
    .command('links')
    .summary('list, import and remove links between tasks and outside items')
    .description(
      'Lists which task is which item (issue, task) of a target, the newest first. A delivery of a task goes to the item ' +
        'that the task is linked with. A task without a link is linked with the item that its title or description names, ' +
        'when it is delivered: ABC-12, owner/repo#12, or the address of the item. It must name one only.',
    )
    .option('--target <name>', 'target in the settings')
    .option('--account <name>', 'account in the settings')
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep links --target issues
  $ lockstep links import links.csv --target issues --account acme --dry-run
  $ lockstep links remove --target issues --account acme --task 12`,
    )
    .action(perform(list));
  addImport(links, perform);
  addRemove(links, perform);
}

function addRemove(links: Command, perform: Perform): void {
  links
    .command('remove')
    .summary('take a link away')
    .description(
      'Takes the link of a task away; the item is left as it is. Where the text of the task names an item of the target, ' +
        'its next delivery links it with that one.',
    )
    .option('--target <name>', 'target of the link')
    .option('--account <name>', 'account of the task')
    .option('--task <id>', `the task: ${SOURCE_WORDS}`)
    .action(perform(remove));
}

async function list(session: Session, { limit, ...options }: Options & { limit: number }): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  await refuseUnknown(session, pool, options);
  const { links, total } = await listLinks(pool, await filterFrom(pool, options), limit);
  const titles = ['TARGET', 'ACCOUNT', 'TASK', 'ITEM', 'LINKED', 'BY'];
  out.say(...table(titles, links.map(toLine), { none: 'There is no such link.' }));
  if (total > links.length) out.say(`These are the newest of ${formatCount(total)}: --limit ${total} lists all.`);
  out.result({ links, total });
}

function toLine({ target, account, task, itemId, linkedAt, run }: ListedLink): readonly string[] {
  return [target, account, task, itemId, formatTime(linkedAt), run ?? 'hand'];
}

async function remove(session: Session, _options: object, command: Command): Promise<void> {
  const { out, hint } = session;
  const { target, account, task } = withParentOptions<Options & { task?: string }>(command);
  if (target === undefined || account === undefined || task === undefined) {
    throw wrongUse('which link? Name it by --target, --account and --task');
  }
  const source = parseSource(task);
  if (source === undefined) throw wrongUse(`--task ${quote(task)} names no task: give ${SOURCE_WORDS}`);
  const { pool } = await session.openLedger();
  await refuseUnknown(session, pool, { target, account });
  const itemId = await removeLink(pool, { target, scope: await scopeNamed(pool, account), source });
  if (itemId === undefined) {
    const remedy = `See those there are with: ${hint(`links --target ${target} --account ${account}`)}`;
    throw wrongUse(`${source} of ${account} is linked with no item of ${target}. ${remedy}`, 'LINK_UNKNOWN');
  }
  out.say(`${source} of ${account} is no longer linked with ${itemId} of ${target}.`);
  out.result({ target, account, task: source, itemId });
}

async function filterFrom(db: Queryable, { target, account }: Options): Promise<LinkFilter> {
  return { target, scope: account === undefined ? undefined : await scopeNamed(db, account) };
}

/** @throws LockstepError where a name is neither in the settings nor in the ledger: one that has left them may have links */
async function refuseUnknown(session: Session, db: Queryable, { target, account }: Options): Promise<void> {
  const settings = await session.settings();
  const hasLinks = async (options: Options) => (await listLinks(db, await filterFrom(db, options), 1)).total > 0;
  if (target !== undefined && settings.targets[target] === undefined && !(await hasLinks({ target })))
    targetNamed(settings, target);
  if (account !== undefined && settings.accounts[account] === undefined && !(await hasLinks({ account })))
    accountNamed(settings, account);
}
