/** With a test contact: what a create answers, and how long it takes until a search or a list shows it. */
import { idOf } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { Look } from '../caller.ts';
import { listFrom, readAgain, recordFrom } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe } from '../probe.ts';
import { LONGEST_LAG_MS, leave, lookFor, mayHaveWritten, stopIfKeyRefused } from '../test-records.ts';
import { answerWords } from '../words.ts';

const SECOND = 1_000;
const MANY_ROWS = 1_000;

export const writeContact: Probe = {
  name: 'what a create answers, and when it is seen',
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
    const does = 'rejects a row with the service’s own words';
    const needs = 'a contact has to be creatable for the other tests; see what the service says of it';
    const found = `the create was answered ${answerWords(look)}`;
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
  // Without a search that works, the list has to show it: on its first page, where that is the newest or the only one.
  const many = await readAgain(exam, list, { ...list.query, [dialect.rowsPerPageParam]: MANY_ROWS });
  return idOf(many.found?.records.find(isOurs), 'contacts', dialect);
}

function createAnswer({ account }: Examination, look: Look): Finding {
  const gap = 'write-answers';
  if (look.outcome.status !== 'applied') {
    const does = 'in doubt after every create: settles it by reading back';
    return certain(gap, `a create is answered ${answerWords(look)}`, does);
  }
  const record = recordFrom(look, 'contacts', account);
  const empty = look.body.trim() === '' ? 'nothing' : 'an envelope that tells no id';
  const what = record === undefined ? empty : Object.hasOwn(record, 'email') ? 'the record' : 'its id';
  return certain(gap, `a create answers ${what}`, 'takes it for done, and finds ids by reading');
}

function lag({ account }: Examination, afterMs: number | undefined): Finding {
  const gap = 'read-after-write';
  const { name, settleMs } = account;
  const does = `believes that a write is not there ${settleMs / SECOND} s after its answer was lost, not sooner (budget.settle)`;
  const needs = `raise accounts.${name}.budget.settle above the time it takes`;
  if (afterMs === undefined) {
    const found = `a new contact was not seen within ${LONGEST_LAG_MS / SECOND} s`;
    return likely(gap, found, does, LONGEST_LAG_MS >= settleMs ? { needs } : {});
  }
  const when = afterMs < SECOND ? 'at once' : `within ${(afterMs / SECOND).toFixed(1)} s`;
  const found = `a new contact is seen ${when} (${Math.round(afterMs)} ms)`;
  return certain(gap, found, does, afterMs * 2 > settleMs ? { needs } : {});
}
