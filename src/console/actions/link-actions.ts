/** What people do in the console with links. */
import path from 'node:path';
import { formatCount, plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import type { OpenedFile } from '../../csv/receive.ts';
import { describeRemoved, removeLink } from '../../mirror/links/list-links.ts';
import { parseSource } from '../../mirror/links/read-links.ts';
import { importLinkFile } from '../../operator/link-import.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { type Done, keeping, type Taking } from './actions.ts';

export interface LinkOf {
  readonly target: string;
  /** As the list of links names it: the tenant. */
  readonly account: string;
  /** Such as `task:12`. */
  readonly task: string;
}

/** @throws LockstepError LINK_UNKNOWN, CONSOLE_NOT_ALLOWED */
export function unlink(
  needs: Pick<ConsoleNeeds, 'pool'>,
  taking: Taking,
  { target, account, task }: LinkOf,
): Promise<Done> {
  return keeping(needs, taking, 'remove-link', `${task} of ${account} at ${target}`, async () => {
    const source = parseSource(task);
    const removed = source && (await removeLink(needs.pool, { target, scope: account, source }));
    if (removed) return { said: describeRemoved(removed, { target, account, task }) };
    throw new LockstepError('LINK_UNKNOWN', `${task} of ${account} is not linked with an item of ${target}`);
  });
}

export interface LinkImportForm {
  readonly target: string;
  readonly account: string;
  readonly isReplacing: boolean;
  readonly isDryRun: boolean;
}

/** How many refused lines are named. */
const NAMED = 5;

/** @throws LockstepError like importLinkFile, CONSOLE_NOT_ALLOWED */
export function importLinksFrom(
  needs: Pick<ConsoleNeeds, 'pool' | 'settings' | 'dataDir' | 'hint'>,
  taking: Taking,
  open: () => Promise<OpenedFile>,
  form: LinkImportForm,
): Promise<Done> {
  const { pool, settings, dataDir, hint } = needs;
  const { target, account, isDryRun } = form;
  return keeping(needs, taking, isDryRun ? 'check-links' : 'import-links', `${target} for ${account}`, async () => {
    const spoolDir = path.join(dataDir, 'received');
    const signal = new AbortController().signal;
    const imported = await importLinkFile(pool, settings(), {
      ...form,
      source: open,
      hasHeader: true,
      spoolDir,
      signal,
    });
    const { rows, counts, refused } = imported;
    const words = [
      `${isDryRun ? 'Nothing was written. ' : ''}${plural(rows, 'row')}: ${formatCount(counts.new)} new, ${formatCount(counts.same)} already linked, ${formatCount(counts.replaced)} replaced, ${formatCount(counts.refused)} refused.`,
      ...refused.slice(0, NAMED).map(({ code, facts }) => sentenceFor(code, facts, { command: hint })),
    ];
    return { said: words.join(' '), ...(counts.refused > 0 && { refused: 'ROWS_REFUSED' }) };
  });
}
