/**
 * Which body does customers/import take? The forms are tried one after the other with the test contact, and the list of
 * customers says which was applied, whatever the answers say.
 */
import { autoDialect, type Dialect, idOf, importBody, isJsonObject, type JsonObject } from '../../client/dialect.ts';
import { PREFIXES, type Prefix } from '../../contract/operations.ts';
import type { Look } from '../caller.ts';
import { type ListSeen, readAgain } from '../lists.ts';
import { type Examination, type Finding, type Probe, settingOf } from '../probe.ts';
import { leave, lookFor, mayHaveWritten, patienceMs, stopIfKeyRefused } from '../test-records.ts';
import { answerWords, listed } from '../words.ts';
import { emailOf } from './write-contact.ts';

const GAPS = ['import-body', 'import-or-create', 'import-mapping', 'import-link'];
type ImportBody = Dialect['importBody'];

const FORMS: readonly ImportBody[] = [{ contact_id: '$id' }, { id: '$id' }, { contact_ids: ['$id'] }];
/** Where a customer takes longer to be seen than this, it may have come from the form before. */
const QUICK_MS = 5_000;

export const writeImport: Probe = { name: 'how contacts are imported', gaps: GAPS, access: 'writes', run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const does = 'imports with the body of the settings';
  const unknown = (found: string): readonly Finding[] => [{ gap: 'import-body', found, sure: 'unknown', does }];
  const { contactId } = exam.written;
  if (contactId === undefined) return unknown('not tried: the test contact was not seen, so there is no id to import');
  const list = await exam.list('customers');
  if (list.found === undefined) return unknown('not tried: the list of customers, which would show it, cannot be read');

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

/** Under the other prefix, too, where the first has no such route; the contract lists the import apart. */
async function send(
  exam: Examination,
  form: ImportBody,
  contactId: string,
  first: Prefix | undefined,
): Promise<{ look: Look; prefix: Prefix | undefined }> {
  const body = importBody({ ...autoDialect, importBody: form }, contactId);
  const under = (prefix: Prefix | undefined) =>
    exam.calls.look('customers.import', { body, ...(prefix !== undefined && { prefix }) });
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

function imported(
  exam: Examination,
  found: { list: ListSeen; form: ImportBody; prefix: Prefix | undefined; customer: JsonObject },
): readonly Finding[] {
  const { account, written } = exam;
  const { list, form, prefix, customer } = found;
  leave(exam, 'customers', idOf(customer, 'customers', account.dialect));
  const isCertain = (written.lagMs ?? QUICK_MS) < QUICK_MS;
  const setting = settingOf(account, 'dialect.importBody', form);
  const isOwn = JSON.stringify(form) === JSON.stringify(account.dialect.importBody);
  const findings: Finding[] = [
    {
      gap: 'import-body',
      found: `${JSON.stringify(form)} makes a customer`,
      sure: isCertain ? 'certain' : 'likely',
      does: isOwn ? 'imports with it' : 'imports with it, once the setting says so',
      ...(isCertain && { setting }),
    },
    { gap: 'import-or-create', found: 'the import works', sure: 'certain', does: 'imports' },
    mapping(exam, customer),
    link(customer, written.contactId),
  ];
  if (prefix !== undefined && prefix !== list.prefix) {
    const does = 'finds the prefix for each operation by itself';
    const auto = settingOf(account, 'prefix', 'auto');
    findings.push({
      gap: 'prefix',
      about: 'customers/import',
      found: `${prefix}, unlike the lists`,
      sure: 'certain',
      does,
      setting: auto,
    });
  }
  return findings;
}

function mapping(exam: Examination, customer: JsonObject): Finding {
  const taken = [
    customer.full_name === `Lockstep Doctor (safe to delete) ${exam.marker}` &&
      'full_name from the first and last name',
    customer.email === emailOf(exam) && 'email',
  ].filter((one) => one !== false);
  const found = taken.length === 0 ? 'neither the name nor the e-mail came along' : `${listed(taken)} came along`;
  return {
    gap: 'import-mapping',
    found,
    sure: 'certain',
    does: 'matches customers by what they say, not by what was sent',
  };
}

function link(customer: JsonObject, contactId: string | undefined): Finding {
  const names = Object.entries(customer).flatMap(([name, value]) =>
    /contact/i.test(name) && !isJsonObject(value) && String(value) === contactId ? [name] : [],
  );
  const found =
    names.length === 0
      ? 'a customer does not say which contact it came from'
      : `${listed(names)} of a customer is its contact`;
  return { gap: 'import-link', found, sure: 'certain', does: 'keeps its own links all the same' };
}

function notImported(answers: readonly string[]): readonly Finding[] {
  const found = `no form made a customer: ${answers.join('; ')}`;
  const does = 'tries the import, and creates customers from contacts where it is refused';
  const needs =
    'set importWith: create in the syncs of this account, or ask its operator for the body of customers/import';
  return [
    { gap: 'import-body', found, sure: 'likely', does, needs },
    { gap: 'import-or-create', found: 'the import did not work', sure: 'likely', does },
  ];
}
