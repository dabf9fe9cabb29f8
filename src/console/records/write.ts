/**
 * Writes that people make by hand: through the account's client and budget, stored before they are sent. A form that is sent
 * twice is one call. The content of a create that was applied, or may have been, is sent again only if a person wants it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';
import { toWireId } from '../../client/call/dialect.ts';
import { type JsonObject, textOf } from '../../client/call/json.ts';
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Account } from '../../engine/account/account.ts';
import {
  claimHandCall,
  endHandCall,
  type HandCall,
  type HandCallFound,
  readHandCall,
  settleHandCall,
} from '../../engine/ledger/console/hand-calls.ts';
import { AccountSuspended, suspensionOf } from '../../engine/ledger/scopes/suspensions.ts';
import { explainIssue } from '../../settings/issues.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { keeping, type Taking } from '../actions/actions.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { shownOf, wireBody } from './fields.ts';
import { type Prepared, prepareImport } from './import.ts';
import { KIND, RECORD_KINDS } from './kinds.ts';
import { MAX_WAIT_MS, type Read, readBoard, readRecord, readSubtasks } from './read.ts';
import { callState, isApplied, isRepeatable, lookFrom } from './state.ts';

export interface Writing {
  /** A UUID that the form chose. */
  readonly id: string;
  readonly account: string;
  readonly operation: OperationName;
  readonly path: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The page to return to. */
  readonly page: string;
  /** The applied call whose content is wanted a second time, or `any`. */
  readonly besides?: string | undefined;
  /** What an update was made from (`shownOf`): it would undo what others have changed since. */
  readonly shown?: string | undefined;
  /** That has the card of a move. */
  readonly pipeline?: string | undefined;
}

type WriteNeeds = Pick<ConsoleNeeds, 'pool' | 'openAccount' | 'settings'>;

/**
 * Sends it once, and returns the call with its outcome; or the earlier call that prevents it.
 * @throws LockstepError CONSOLE_NOT_ALLOWED, ACCOUNT_SUSPENDED, RECORD_CHANGED, RECORD_UNREAD, ZodError if the body does not fit the contract
 */
export async function writeByHand(needs: WriteNeeds, taking: Taking, writing: Writing): Promise<HandCall> {
  const { pool } = needs;
  const { id, account: name, operation } = writing;
  let shown = id;
  await keeping(needs, taking, operation, aboutOf(writing), async () => {
    checkBody(operation, writing.body);
    const account = await needs.openAccount(name);
    await requireUsable(pool, account);
    if ((await readHandCall(pool, id)) === undefined) await requireUnchanged(account, writing);
    const { scope } = account;
    const who = taking.person.name;
    const claimed = await claimHandCall(pool, { ...writing, who, scope, isRepeatable: isRepeatable(operation) });
    if (claimed.status === 'known') {
      shown = claimed.call.id;
      if (shown === id) await whenEnded(pool, id);
      const isKnown = shown === id || isApplied(claimed.call);
      return { said: 'This was sent before.', refused: isKnown ? 'SENT_BEFORE' : 'OUTCOME_UNKNOWN' };
    }
    const { status } = await send(pool, account, writing);
    return { said: status, ...(status !== 'applied' && { refused: status.toUpperCase() }) };
  });
  return handCallOf(pool, shown);
}

/** A change between this look and the write is not seen. @throws LockstepError RECORD_CHANGED, RECORD_UNREAD, FIELD_WRONG */
async function requireUnchanged(account: Account, writing: Writing): Promise<void> {
  const { operation, shown } = writing;
  if (shown === undefined) return;
  const now = await recordNow(account, writing);
  if (now.status === 'failed') {
    const message = `The record cannot be read, so it is not known whether it has changed. Nothing was sent. ${now.why}`;
    throw new LockstepError('RECORD_UNREAD', message);
  }
  if (now.value !== undefined && shownOf(operation, now.value) === shown) return;
  throw new LockstepError(
    'RECORD_CHANGED',
    'The record has changed since it was read, and this write would undo that change. Nothing was sent. Read the record again before you change it',
  );
}

/** The record that an update is about; of a card, its column. @throws LockstepError FIELD_WRONG if the operation is no update */
async function recordNow(account: Account, writing: Writing): Promise<Read<JsonObject | undefined>> {
  const { operation, path, pipeline = '' } = writing;
  const { id, card_id } = Object(writing.body);
  if (operation === 'pipelines.moveCard') {
    const board = await readBoard(account, pipeline);
    if (board.status === 'failed') return board;
    const column = board.value.columns.find(({ cards }) => cards.some((card) => card.id === String(card_id)));
    return { status: 'read', value: column && { column_id: column.id ?? null } };
  }
  if (operation === 'subtasks.update') {
    const subtasks = await readSubtasks(account, String(path.task_id));
    if (subtasks.status === 'failed') return subtasks;
    return { status: 'read', value: subtasks.value.find((one) => one.id === String(id))?.record };
  }
  const kind = RECORD_KINDS.find((one) => KIND[one].update?.operation === operation);
  if (kind) return readRecord(account, kind, String(Object.values(path)[0] ?? id));
  throw new LockstepError('FIELD_WRONG', `was: ${operation} updates no record that can be compared. Nothing was sent`);
}

const LONGEST_WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** A form that is sent again while its call is being sent gets the outcome of that call. */
async function whenEnded(db: Queryable, id: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += LOOK_EVERY_MS) {
    if ((await handCallOf(db, id)).endedAt !== null) return;
    await delay(LOOK_EVERY_MS);
  }
}

/** The answer is waited for even if the person leaves: a call that was sent always gets its outcome noted. */
async function send(db: Queryable, account: Account, writing: Writing) {
  const { id, operation, path } = writing;
  const prepared = await prepare(db, account, writing);
  const outcome =
    prepared.status === 'not-sent'
      ? prepared
      : await account.client.call(operation, {
          lane: 'interactive',
          maxWaitMs: MAX_WAIT_MS,
          path: Object.fromEntries(Object.entries(path).map(([name, value]) => [name, toWireId(value)])),
          body: prepared.body,
        });
  await endHandCall(db, id, {
    status: outcome.status,
    httpStatus: 'httpStatus' in outcome ? outcome.httpStatus : undefined,
    message: 'message' in outcome ? textOf(outcome.message) : undefined,
  });
  return outcome;
}

async function prepare(db: Queryable, account: Account, { operation, body }: Writing): Promise<Prepared> {
  if (operation === 'customers.import') return prepareImport(db, account, body);
  return { status: 'ready', body: wireBody(operation, body) };
}

/** `demo: id 3`: the account and the records; of a record that has no id yet, the call, whose page has its content. */
function aboutOf({ id, account, path, body }: Writing): string {
  const ids = Object.entries({ ...path, ...Object(body) }).filter(([name]) => /(^|_)id$|^module_type$/.test(name));
  const words = ids.map(([name, value]) => `${name} ${value}`);
  return `${account}: ${words.length === 0 ? `call ${id}` : words.join(', ')}`;
}

const MAKES = /\.(create|comment)$/;
/** What a record or comment belongs to, which its form fills in. */
const PARENTS: readonly string[] = ['task_id', 'module_type', 'module_id'];

/** Ids may be texts at other services: everything else has to fit. @throws ZodError, LockstepError FIELD_WRONG */
function checkBody(operation: OperationName, body: unknown): void {
  if (MAKES.test(operation) && Object.keys(Object(body)).every((name) => PARENTS.includes(name))) {
    throw new LockstepError('FIELD_WRONG', 'Fill in at least one field: it would be empty. Nothing was sent');
  }
  const { body: schema }: Operation = operations[operation];
  const found = schema?.safeParse(body, { error: explainIssue });
  const issues = found?.error?.issues.filter(({ path }) => !/(^|_)id$/.test(String(path.at(-1))));
  if (issues && issues.length > 0) throw new z.ZodError(issues);
}

/** @throws LockstepError ACCOUNT_SUSPENDED */
export async function requireUsable(db: Queryable, { name, scope }: Account): Promise<void> {
  const suspension = await suspensionOf(db, scope);
  if (suspension) throw new AccountSuspended(name, suspension.message);
}

/** @throws LockstepError CALL_UNKNOWN */
export async function handCallOf(db: Queryable, id: string): Promise<HandCall> {
  const call = z.uuid().safeParse(id).success ? await readHandCall(db, id) : undefined;
  if (call) return call;
  throw new LockstepError('CALL_UNKNOWN', `There is no call ${id}: calls are deleted a week after they were made`);
}

/** Notes what a person found out. @throws LockstepError CALL_UNKNOWN, CALL_SETTLED, CALL_TOO_EARLY, CONSOLE_NOT_ALLOWED */
export async function settleByHand(
  needs: WriteNeeds,
  taking: Taking,
  id: string,
  found: HandCallFound,
): Promise<HandCall> {
  await keeping(needs, taking, 'settle-call', id, async () => {
    const call = await handCallOf(needs.pool, id);
    if (found === 'absent') requireSettled(needs.settings(), call);
    const about = `${call.operation} for ${call.account}: ${found}`;
    if (await settleHandCall(needs.pool, id, found)) return { said: 'The outcome is recorded.', about };
    throw new LockstepError('CALL_SETTLED', 'The outcome of this call is known already. Open its page again');
  });
  return handCallOf(needs.pool, id);
}

/** @throws LockstepError CALL_TOO_EARLY */
function requireSettled(settings: Settings, call: HandCall): void {
  const from = lookFrom(settings, call);
  if (Date.now() >= from.getTime()) return;
  const message = `The service may still apply this call. From ${from.toISOString()} on, look for it there: then say that it was applied, or send it again`;
  throw new LockstepError('CALL_TOO_EARLY', message);
}

/**
 * Sends an earlier call again, as a call of its own: if it was applied, a second one is wanted. If its outcome is not known,
 * that it is sent says that it was not applied. @throws like writeByHand and settleByHand
 */
export async function writeAgain(needs: WriteNeeds, taking: Taking, id: string, once: string): Promise<HandCall> {
  const earlier = await handCallOf(needs.pool, id);
  const known = await readHandCall(needs.pool, once);
  if (known) return known;
  const { operation, account, path, body, page } = earlier;
  const state = callState(needs.settings(), earlier);
  if (state === 'under way') requireSettled(needs.settings(), earlier);
  if (state === 'unknown' && !isRepeatable(operation)) await settleByHand(needs, taking, id, 'absent');
  return writeByHand(needs, taking, { id: once, account, operation, path, body, page, besides: id });
}
