/** Checks decisions before they are stored, and asks the service for the records that they name. */
import { singular } from '../contract/kinds.ts';
import type { Account } from '../engine/account/account.ts';
import { lookUp } from '../engine/account/look-up.ts';
import type { NewDecision } from '../engine/ledger/decisions.ts';
import { readWitnesses } from '../engine/ledger/scopes/witnesses.ts';
import type { Queryable } from '../storage/queryable.ts';
import { recordsFor } from './review.ts';
import { decidedName, refuseWrong, type Wrong, wrongDecisions } from './review-decisions.ts';

/** For all records of one account: what is not answered by then is checked when the decisions are applied. */
const ASKING_MS = 10_000;
const MOST_TRIES = 2;
/** Records that should exist, of which one has to be found before "not found" counts. */
const MOST_CONTROLS = 4;

export interface AskNeeds {
  readonly pool: Queryable;
  readonly openAccount: (name: string) => Promise<Account>;
  readonly signal?: AbortSignal;
}

type Answer = 'found' | 'missing' | 'unasked';

export interface Checked {
  readonly wrong: readonly Wrong[];
  /** Whether the service could not be asked for the record, so that only the run that applies the decision can tell. */
  isUnasked(decision: NewDecision): boolean;
}

const usesRecord = ({ choice, record }: NewDecision) => choice === 'use' && record !== undefined;
const kindOf = ({ reason }: NewDecision['item']) => (reason === 'DIFFERS' ? 'orders' : 'customers');
const listOf = ({ item }: NewDecision) => JSON.stringify([item.account, item.scope, kindOf(item)]);
const keyOf = (decision: NewDecision) => JSON.stringify([listOf(decision), decision.record]);

/** @throws LockstepError CHOICE_NOT_POSSIBLE for the first decision that cannot be taken */
export async function requirePossible(needs: AskNeeds, decisions: readonly NewDecision[]): Promise<Checked> {
  const checked = await checkDecisions(needs, decisions);
  refuseWrong(checked.wrong);
  return checked;
}

/** Asks for each record once, if nothing else is wrong. Run it before the transaction that stores the decisions. */
export async function checkDecisions(needs: AskNeeds, decisions: readonly NewDecision[]): Promise<Checked> {
  const wrong = await wrongDecisions(needs.pool, decisions);
  if (wrong.length > 0) return { wrong, isUnasked: () => false };
  const byList = new Map<string, Map<string, NewDecision>>();
  for (const one of decisions.filter(usesRecord)) {
    const list = byList.get(listOf(one)) ?? new Map<string, NewDecision>();
    byList.set(listOf(one), list.set(keyOf(one), one));
  }
  const asking = [...byList.values()].map((list) => askOneList(needs, [...list.values()]));
  const answers = new Map((await Promise.all(asking)).flat());
  const missing = decisions.flatMap((one, at): readonly Wrong[] => {
    if (answers.get(keyOf(one)) !== 'missing') return [];
    const { item, record } = one;
    const why = `${decidedName(item)}: the service of account "${item.account}" has no ${singular(kindOf(item))} ${record}.`;
    return [{ at, column: 'record', why }];
  });
  return { wrong: missing, isUnasked: (one) => answers.get(keyOf(one)) === 'unasked' };
}

/** If not even a record that should exist is found, the service has no look-up by id, and the answers mean nothing. */
async function askOneList(
  { pool, openAccount, signal }: AskNeeds,
  chosen: readonly NewDecision[],
): Promise<readonly (readonly [key: string, Answer])[]> {
  const items = chosen.map(({ item }) => item);
  const [item] = items;
  if (item === undefined) return [];
  const kind = kindOf(item);
  const account = await openAccount(item.account).catch(() => undefined); // the next run says why
  const until = AbortSignal.any([AbortSignal.timeout(ASKING_MS), ...(signal ? [signal] : [])]);
  const ask = async (id: string): Promise<Answer> => {
    if (account?.scope !== item.scope) return 'unasked';
    try {
      const found = await lookUp(account, kind, id, { lane: 'interactive', signal: until, tries: MOST_TRIES });
      return found.status === 'found' ? 'found' : 'missing';
    } catch {
      signal?.throwIfAborted();
      return 'unasked';
    }
  };
  const answers = await Promise.all(chosen.map(async (one) => [keyOf(one), await ask(one.record ?? '')] as const));
  const given = answers.map(([, answer]) => answer);
  if (!given.includes('missing') || given.includes('found')) return answers;
  const witnesses = (await readWitnesses(pool, item.scope, kind)).map(({ id }) => id);
  const controls = [...new Set([...items.flatMap(recordsFor), ...witnesses])].slice(0, MOST_CONTROLS);
  for (const id of controls) if ((await ask(id)) === 'found') return answers;
  return answers.map(([key]) => [key, 'unasked'] as const);
}
