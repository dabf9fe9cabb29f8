/**
 * Which body does customers/import accept? The forms are tried one after the other with the test contact. Whatever the
 * answers say, the list of customers shows which form was applied.
 */
import { autoDialect, type Dialect, idOf, importBody, isJsonObject } from '../../../client/call/dialect.ts';
import type { JsonObject } from '../../../client/call/json.ts';
import { PREFIXES, type Prefix } from '../../../contract/operation.ts';
import { answerWords, inWords } from '../answer-words.ts';
import type { Look } from '../caller.ts';
import { type ListSeen, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, likely, type Probe, settingOf, unknown } from '../probe.ts';
import { leave, lookFor, mayHaveWritten, patienceMs, stopIfKeyRefused, testName } from '../test-records.ts';
import { emailOf } from './write-contact.ts';

const GAPS = ['import-body', 'import-or-create', 'import-mapping', 'import-link'] as const;
type ImportBody = Dialect['importBody'];

const FORMS: readonly ImportBody[] = [{ contact_id: '$id' }, { id: '$id' }, { contact_ids: ['$id'] }];
/** If it takes longer than this until the list shows a customer, the previous form may have made it. */
const QUICK_MS = 5_000;

export const writeImport: Probe = { name: 'how contacts are imported', gaps: GAPS, run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const untried = (why: string) => [
    unknown('import-body', `not tried: ${why}`, 'imports with the body in the settings'),
  ];
  const { contactId } = exam.written;
  if (contactId === undefined) return untried('no read showed the test contact, so there is no id to import');
  const list = await exam.list('customers');
  if (list.found === undefined)
    return untried('the list of customers cannot be read, so the result would not be visible');

  let prefix = list.prefix;
  const answers: string[] = [];
  for (const form of formsFor(exam.account.dialect.importBody)) {
    const sent = await send(exam, form, contactId, prefix);
    prefix = sent.prefix;
    answers.push(`${JSON.stringify(form)} ${answerWords(sent.look)}`);
    if (mayHaveWritten(sent.look)) leave(exam, 'customers');
    const withinMs = mayHaveWritten(sent.look) ? patienceMs(exam) : (exam.written.lagMs ?? 0);
    const shown = await lookFor(exam, withinMs, () => findCustomer(exam, list, contactId));
    if (shown !== undefined) return imported(exam, { list, form, prefix, customer: shown.found });
  }
  return notImported(answers);
}

function formsFor(own: ImportBody): readonly ImportBody[] {
  return [own, ...FORMS.filter((form) => JSON.stringify(form) !== JSON.stringify(own))];
}

/** Also tries the other prefix if the first has no such route, because the contract lists the import separately. */
async function send(
  exam: Examination,
  form: ImportBody,
  contactId: string,
  first: Prefix | undefined,
): Promise<{ look: Look; prefix: Prefix | undefined }> {
  const body = importBody({ ...autoDialect, importBody: form }, contactId);
  const under = (prefix: Prefix | undefined) => exam.calls.look('customers.import', { body, prefix });
  const look = await under(first);
  stopIfKeyRefused(exam, look);
  const other = PREFIXES.find((one) => one !== first);
  const isMissing = look.outcome.status === 'refused' && [404, 405].includes(look.outcome.httpStatus);
  if (!isMissing || other === undefined) return { look, prefix: first };
  const second = await under(other);
  return mayHaveWritten(second) ? { look: second, prefix: other } : { look, prefix: first };
}

async function findCustomer(exam: Examination, list: ListSeen, contactId: string): Promise<JsonObject | undefined> {
  const { found } = await readAgain(exam, list);
  return found?.records.find(
    (customer) =>
      customer.email === emailOf(exam) ||
      String(customer.full_name ?? '').includes(exam.marker) ||
      String(customer.contact_id ?? '') === contactId,
  );
}

/** The customer in the list, and how its contact was imported. */
interface Shown {
  readonly list: ListSeen;
  readonly form: ImportBody;
  readonly prefix: Prefix | undefined;
  readonly customer: JsonObject;
}

function imported(exam: Examination, { list, form, prefix, customer }: Shown): readonly Finding[] {
  const { account, written } = exam;
  leave(exam, 'customers', idOf(customer, 'customers', account.dialect));
  const found = `${JSON.stringify(form)} creates a customer`;
  const isOwn = JSON.stringify(form) === JSON.stringify(account.dialect.importBody);
  const does = isOwn ? 'imports with it' : 'imports with it when the setting has this body';
  const setting = settingOf(account, 'dialect.importBody', form);
  const findings = [
    (written.lagMs ?? QUICK_MS) < QUICK_MS
      ? certain('import-body', found, does, { setting })
      : likely('import-body', found, does),
    certain('import-or-create', 'the import works', 'imports'),
    mapping(exam, customer),
    link(customer, written.contactId),
  ];
  if (prefix === undefined || prefix === list.prefix) return findings;
  const auto = settingOf(account, 'prefix', 'auto');
  const more = { about: 'customers/import', setting: auto };
  return [
    ...findings,
    certain('prefix', `under ${prefix}, unlike the lists`, 'finds the prefix of each operation separately', more),
  ];
}

function mapping(exam: Examination, customer: JsonObject): Finding {
  const taken = [
    customer.full_name === testName(exam.marker) && 'full_name from the first and last name',
    customer.email === emailOf(exam) && 'email',
  ].filter((one) => one !== false);
  const found = taken.length === 0 ? 'neither the name nor the e-mail was copied' : `copied: ${inWords(taken)}`;
  return certain('import-mapping', found, 'matches customers by their actual content, not by what was sent');
}

function link(customer: JsonObject, contactId: string | undefined): Finding {
  const names = Object.entries(customer).flatMap(([name, value]) =>
    /contact/i.test(name) && !isJsonObject(value) && String(value) === contactId ? [name] : [],
  );
  const found =
    names.length === 0
      ? 'a customer does not name its contact'
      : `${inWords(names)} of a customer is the id of its contact`;
  return certain('import-link', found, 'also keeps its own links');
}

function notImported(answers: readonly string[]): readonly Finding[] {
  const does = 'tries the import, and creates customers from contacts if it is refused';
  const needs =
    'set importWith: create in the syncs of this account, or ask the service’s operator for the body of customers/import';
  return [
    likely('import-body', `no form created a customer: ${answers.join('; ')}`, does, { needs }),
    likely('import-or-create', 'the import did not work', does),
  ];
}
