/**
 * Lists that the service cuts off without a sign. The doctor finds some of them and tells the ledger; a run then treats the
 * list as incomplete, and says what the doctor said. A list with as many records as a page, which was never longer, may be cut off, too:
 * it is incomplete if there is a record with the number after its highest id (witnessing.ts asks for the one before the lowest), or, if its
 * ids are no numbers, if it was never seen with another length. Otherwise a run that creates records begins with one.
 */
import type pg from 'pg';
import { formatCount } from '../../base/counts.ts';
import { isPageSize } from '../../client/lists/scan-pages.ts';
import { singular, type WholeKind } from '../../contract/kinds.ts';
import { distrustList } from '../ledger/matching/first-created.ts';
import { addNote } from '../ledger/runs.ts';
import { forgetLearnt, keepLearnt, readLearnt } from '../ledger/scopes/learnt.ts';
import type { JobContext } from '../worker/job.ts';
import { EMBEDDED } from './account.ts';
import { lookUp } from './look-up.ts';
import { readsOf } from './reads.ts';
import type { WholeListRead } from './whole-list.ts';

const NAME = (kind: WholeKind) => `cut-off:${kind}`;
/** The greatest length of a list that is no page size. */
const LENGTH = (kind: WholeKind) => `list-length:${kind}`;

/** Keeps what the doctor found about a list; undefined: it is not cut off. */
export async function keepCutOff(pool: pg.Pool, scope: string, kind: WholeKind, found?: string): Promise<void> {
  if (found === undefined) await forgetLearnt(pool, scope, NAME(kind));
  else await keepLearnt(pool, scope, NAME(kind), found);
}

/**
 * Whether the list is cut off, or may be. Notes that in the run, and also, once, if its length is suspicious; lists of the
 * embedded service are whole, whatever their length.
 */
export async function isCutOff(
  context: Pick<JobContext<unknown>, 'pool' | 'run' | 'account' | 'signal'>,
  kind: WholeKind,
  { records, hasEnd, highestId }: Pick<WholeListRead, 'records' | 'hasEnd' | 'highestId'>,
): Promise<boolean> {
  const { pool, run, account } = context;
  const learnt = await readLearnt(pool, run.scope);
  const found = learnt.get(NAME(kind));
  if (typeof found === 'string') {
    const safe = `records missing from it may exist, so none of them are created. Run \`lockstep doctor --account ${run.account}\` again once the list is complete`;
    await addNote(pool, run.id, `the doctor found that the list of ${kind} is ${found}; ${safe}`);
    return true;
  }
  if (records === undefined || hasEnd || account.service === EMBEDDED) return false;
  const longest = learnt.get(LENGTH(kind));
  const wasLonger = typeof longest === 'number' && longest > records;
  if (!isPageSize(records)) {
    if (!run.dryRun && !wasLonger) await keepLearnt(pool, run.scope, LENGTH(kind), records);
    return false;
  }
  const hasNext = async (id: number) =>
    (await lookUp(account, kind, String(id + 1), readsOf(context))).status === 'found';
  const isUnclear = !wasLonger && (highestId === undefined ? longest === undefined : await hasNext(highestId));
  if (!isUnclear && !wasLonger && !run.dryRun) await distrustList(pool, run.scope, kind);
  const check = isUnclear
    ? `nothing shows that it is complete, so none of the records missing from it are created. If it has more, set the name of the page parameter in the account’s dialect.pageParam. If it is complete, create one more ${singular(kind)} at the service, then run the sync again, or load the file again (\`--again\`)`
    : `check on the service’s platform whether there are more, because a run may create those again`;
  const list = `the list of ${kind} has `;
  const isNoted = run.notes.some((note) => note.startsWith(list) && note.endsWith(check));
  if (!isNoted)
    await addNote(pool, run.id, `${list}${formatCount(records)} records, which looks like a page size: ${check}`);
  return isUnclear;
}
