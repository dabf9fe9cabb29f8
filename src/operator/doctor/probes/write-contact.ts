/**
 * Creates a test contact and checks what the create answers, and how long it takes until a search or a list shows the
 * contact.
 */
import { idOf } from '../../../client/call/dialect.ts';
import type { JsonObject } from '../../../client/call/json.ts';
import { answerWords } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { listFrom, readAgain, recordFrom } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe } from '../probe.ts';
import { LONGEST_LAG_MS, leave, lookFor, mayHaveWritten, stopIfKeyRefused } from '../test-records.ts';

const SECOND = 1_000;
const MANY_ROWS = 1_000;

export const writeContact: Probe = {
  name: 'what a create answers, and when a read shows the record',
  gaps: ['write-answers', 'read-after-write'],
  run,
};

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { account } = exam;
  const { prefix } = await exam.list('contacts');
  const body = { first_name: 'Lockstep Doctor', last_name: `(safe to delete) ${exam.marker}`, email: emailOf(exam) };
  const look = await exam.calls.look('contacts.create', { body, prefix });
  stopIfKeyRefused(exam, look);
  if (!mayHaveWritten(look)) {
    const does = 'rejects a row with the message of the service';
    const needs = 'the other tests need a contact that can be created; see the message of the service';
    const found = `answer to the create: ${answerWords(look)}`;
    return [certain('write-answers', found, does, { about: 'contacts', needs })];
  }
  leave(exam, 'contacts');
  const shown = await lookFor(exam, LONGEST_LAG_MS, () => find(exam));
  const id = shown?.found ?? idOf(recordFrom(look, 'contacts', account), 'contacts', account.dialect);
  if (id !== undefined) {
    exam.written.contactId = id;
    leave(exam, 'contacts', id);
  }
  if (shown !== undefined) exam.written.lagMs = shown.afterMs;
  return [createAnswer(exam, look), lag(exam, shown?.afterMs)];
}

export function emailOf({ marker }: Examination): string {
  return `lockstep-doctor-${marker}@example.invalid`;
}

async function find(exam: Examination): Promise<string | undefined> {
  const isOurs = (record: JsonObject) =>
    record.email === emailOf(exam) || String(record.last_name).includes(exam.marker);
  const list = await exam.list('contacts');
  const query = { search_term: exam.marker };
  const search = await exam.calls.look('contacts.search', { query, prefix: list.prefix });
  const { dialect } = exam.account;
  const found = listFrom(search, 'contacts', exam.account)?.records.find(isOurs);
  if (found !== undefined) return idOf(found, 'contacts', dialect);
  if (search.outcome.status === 'applied') return undefined;
  // If search does not work, the list has to show the contact. Its first page does if it has the newest records or is the only
  // page.
  const many = await readAgain(exam, list, { ...list.query, [dialect.rowsPerPageParam]: MANY_ROWS });
  return idOf(many.found?.records.find(isOurs), 'contacts', dialect);
}

function createAnswer({ account }: Examination, look: Look): Finding {
  const gap = 'write-answers';
  if (look.outcome.status !== 'applied') {
    const does = 'treats the outcome of every create as unknown, and reads it back';
    return certain(gap, `answer to a create: ${answerWords(look)}`, does);
  }
  const record = recordFrom(look, 'contacts', account);
  const empty = look.body.trim() === '' ? 'nothing' : 'an envelope without an id';
  const what = record === undefined ? empty : Object.hasOwn(record, 'email') ? 'the record' : 'its id';
  return certain(gap, `answer to a create: ${what}`, 'treats the create as applied, and finds ids by reading');
}

function lag({ account }: Examination, afterMs: number | undefined): Finding {
  const gap = 'read-after-write';
  const { name, settleMs } = account;
  const does = `waits ${settleMs / SECOND} s after a lost answer before it concludes that a write was not applied (budget.settle)`;
  const needs = `set accounts.${name}.budget.settle to more than the time it takes`;
  if (afterMs === undefined) {
    const found = `no read showed a new contact within ${LONGEST_LAG_MS / SECOND} s`;
    return likely(gap, found, does, LONGEST_LAG_MS >= settleMs ? { needs } : {});
  }
  const when = afterMs < SECOND ? 'immediately' : `within ${(afterMs / SECOND).toFixed(1)} s`;
  const found = `a read shows a new contact ${when} (${Math.round(afterMs)} ms)`;
  return certain(gap, found, does, afterMs * 2 > settleMs ? { needs } : {});
}
