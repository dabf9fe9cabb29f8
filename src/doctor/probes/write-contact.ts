/** With a test contact: what a create answers, and how long it takes until a search or a list shows it. */
import { recordIn } from '../../client/decode.ts';
import { idOf, type JsonObject } from '../../client/dialect.ts';
import type { Look } from '../caller.ts';
import { listFrom, readAgain } from '../lists.ts';
import type { Examination, Finding, Probe } from '../probe.ts';
import { LONGEST_LAG_MS, leave, lookFor, mayHaveWritten, stopIfKeyRefused } from '../test-records.ts';
import { answerWords } from '../words.ts';

const SECOND = 1_000;
const MANY_ROWS = 1_000;

export const writeContact: Probe = {
  name: 'what a create answers, and when it is seen',
  gaps: ['write-answers', 'read-after-write'],
  access: 'writes',
  run,
};

async function run(exam: Examination): Promise<readonly Finding[]> {
  const { prefix } = await exam.list('contacts');
  const body = { first_name: 'Lockstep Doctor', last_name: `(safe to delete) ${exam.marker}`, email: emailOf(exam) };
  const look = await exam.calls.look('contacts.create', { body, ...(prefix !== undefined && { prefix }) });
  stopIfKeyRefused(exam, look);
  if (!mayHaveWritten(look)) {
    const does = 'rejects a row with the service’s own words';
    const needs = 'a contact has to be creatable for the other tests; see what the service says of it';
    return [
      {
        gap: 'write-answers',
        about: 'contacts',
        found: `the create was answered ${answerWords(look)}`,
        sure: 'certain',
        does,
        needs,
      },
    ];
  }
  leave(exam, 'contacts');
  const told = look.outcome.status === 'applied' ? idIn(exam, look) : undefined;
  const shown = await lookFor(exam, LONGEST_LAG_MS, () => find(exam));
  const id = shown?.found ?? told;
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

function idIn({ account }: Examination, { outcome }: Look): string | undefined {
  if (outcome.status !== 'applied') return undefined;
  return idOf(recordIn(outcome.content, account.dialect, 'contacts'), 'contacts', account.dialect);
}

async function find(exam: Examination): Promise<string | undefined> {
  const isOurs = (record: JsonObject) =>
    record.email === emailOf(exam) || String(record.last_name).includes(exam.marker);
  const list = await exam.list('contacts');
  const search = await exam.calls.look('contacts.search', {
    query: { search_term: exam.marker },
    ...(list.prefix !== undefined && { prefix: list.prefix }),
  });
  const { dialect } = exam.account;
  const found = listFrom(search, 'contacts', exam.account)?.records.find(isOurs);
  if (found !== undefined) return idOf(found, 'contacts', dialect);
  if (search.outcome.status === 'applied') return undefined;
  // Without a search that works, the list has to show it: on its first page, where that is the newest or the only one.
  const many = await readAgain(exam, list, { ...list.query, [dialect.rowsPerPageParam]: MANY_ROWS });
  return idOf(many.found?.records.find(isOurs), 'contacts', dialect);
}

function createAnswer(exam: Examination, look: Look): Finding {
  const gap = 'write-answers';
  const does = 'takes it for done, and finds ids by reading';
  const { outcome } = look;
  if (outcome.status !== 'applied') {
    const doubt = 'in doubt after every create: settles it by reading back';
    return { gap, found: `a create is answered ${answerWords(look)}`, sure: 'certain', does: doubt };
  }
  const record = recordIn(outcome.content, exam.account.dialect, 'contacts');
  if (record !== undefined) {
    const what = Object.hasOwn(record, 'email') ? 'the record' : 'its id';
    return { gap, found: `a create answers ${what}`, sure: 'certain', does };
  }
  const what = look.body.trim() === '' ? 'nothing' : 'an envelope that tells no id';
  return { gap, found: `a create answers ${what}`, sure: 'certain', does };
}

function lag({ account }: Examination, afterMs: number | undefined): Finding {
  const gap = 'read-after-write';
  const seconds = account.settleMs / SECOND;
  const does = `believes that a write is not there ${seconds} s after its answer was lost, not sooner (budget.settle)`;
  const needs = `raise accounts.${account.name}.budget.settle above the time it takes`;
  if (afterMs === undefined) {
    const isLong = LONGEST_LAG_MS >= account.settleMs;
    const found = `a new contact was not seen within ${LONGEST_LAG_MS / SECOND} s`;
    return { gap, found, sure: 'likely', does, ...(isLong && { needs }) };
  }
  const found = `a new contact is seen ${afterMs < SECOND ? 'at once' : `within ${(afterMs / SECOND).toFixed(1)} s`} (${Math.round(afterMs)} ms)`;
  return { gap, found, sure: 'certain', does, ...(afterMs * 2 > account.settleMs && { needs }) };
}
