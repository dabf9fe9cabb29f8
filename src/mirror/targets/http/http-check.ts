/** Checks an http target without writing: whether it answers, and whether its search finds what Lockstep created. */
import type { CallContext, Finding } from '../../../contract/target.ts';
import { failedCheck, fine, problem, reach } from '../findings.ts';
import type { DetailLog } from '../items/creation-log.ts';
import type { Calls, ItemNeeds } from '../items/item-calls.ts';
import type { Asked } from '../items/item-target.ts';
import { SAMPLE } from '../render.ts';
import type { itemFinder } from './http-find.ts';

interface Searching {
  readonly search: ReturnType<typeof itemFinder>;
  readonly log: Pick<DetailLog, 'lastCreated'>;
  /** How long an item may exist before the search shows it. */
  readonly settleMs: number;
  /** The setting of the items. */
  readonly where: string;
  read(calls: Calls, itemId: string): Promise<Asked<unknown>>;
}

export async function checkWithoutSearch(needs: ItemNeeds, context: CallContext): Promise<readonly Finding[]> {
  const reached = await reach(needs.caller, context);
  const token = await needs.tokens?.read();
  if (token === undefined) return reached;
  return [
    ...reached,
    typeof token === 'string' ? fine('token', 'a token was issued') : failedCheck('token', token, ''),
  ];
}

/** Searches for the last item that Lockstep created; before there is one, for the item of no task. */
export async function checkSearch(calls: Calls, { search, log, settleMs, where, read }: Searching): Promise<Finding> {
  const what = 'find';
  const made = await log.lastCreated(settleMs);
  const asked = await search(calls, made ? { ...SAMPLE, ...made, task: { ...SAMPLE.task, ...made.task } } : SAMPLE);
  if (asked.status !== 'ok') return failedCheck(what, asked, `check the url and ${where}.find.path`);
  if (made === undefined)
    return fine(
      what,
      'the search answers; once Lockstep has created an item, this check shows whether the search finds it',
    );
  const { itemId, task } = made;
  const its = `${itemId}, which Lockstep created for ${task.kind} ${task.id}`;
  if (asked.value !== undefined) return fine(what, `the search finds ${its}`);
  const { status } = await read(calls, itemId);
  if (status !== 'ok') return fine(what, `the search answers; ${its}, is no longer there`);
  const detail = `the search does not find ${its}, so a creation whose answer is lost creates a second item`;
  return problem(what, detail, `correct ${where}.find, unless a person has removed the marker from this item`);
}
