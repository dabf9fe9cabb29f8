/** `settings check --live`: applies the mapping and the filter of a contact sync to a few contacts of its service. */
import { LockstepError } from '../base/errors.ts';
import type { Cause } from '../base/reasons/reason.ts';
import { statementFor } from '../base/reasons/reasons.ts';
import { listIn } from '../client/call/decode.ts';
import { idOf, isJsonObject } from '../client/call/dialect.ts';
import type { JsonObject } from '../client/call/json.ts';
import type { Account } from '../engine/account/account.ts';
import { plural } from '../operator/words.ts';
import type { ContactField } from '../settings/contact-fields.ts';
import type { MapRule } from '../settings/contact-map.ts';
import { contactTemplate } from '../settings/contact-template.ts';
import type { SyncSettings } from '../settings/settings.ts';
import { mappingOf } from '../syncs/contacts/mapping.ts';
import { contactText, keysOf, labelOf } from '../syncs/customers/keys.ts';

/** Contacts that are read of each sync. */
const CONTACTS = 10;
/** Texts that are longer are a problem at many services; the contract does not say what is too long. */
const LONG = 255;

export type ContactsSync = Extract<SyncSettings, { type: 'contacts' }>;

export interface CheckedSync {
  readonly sync: string;
  readonly account: string;
  readonly contacts: readonly CheckedContact[];
  /** Fields of contacts that the settings name, and that none of these contacts has. */
  readonly neverSet: readonly string[];
}

export interface CheckedContact {
  readonly contact: string;
  readonly label: string;
  /** False if the filter leaves it out. */
  readonly isSelected: boolean;
  readonly fields: readonly CheckedField[];
  readonly problems: readonly string[];
}

export interface CheckedField {
  readonly field: string;
  /** The contact's fields that it is made from; none if the settings do not map it, or give it one value. */
  readonly from: Readonly<Record<string, string>>;
  readonly result: string;
}

/** Makes one call. @throws LockstepError CHECK_UNREAD */
export async function checkMapping(
  { name, account: accountName, options }: ContactsSync,
  { client, dialect }: Account,
  signal: AbortSignal,
): Promise<CheckedSync> {
  const { pageParam, rowsPerPageParam } = dialect;
  const query = { [pageParam]: 0, [rowsPerPageParam]: CONTACTS };
  const outcome = await client.call('contacts.getall', { lane: 'interactive', query, signal });
  const list = outcome.status === 'applied' ? listIn(outcome.content, dialect, 'contacts', 'content') : undefined;
  if (list === undefined) {
    const why = 'message' in outcome ? outcome.message : 'the answer contains no list of contacts';
    const message = `The contacts of account "${accountName}" could not be read: ${why}. Find out more with: \`lockstep doctor --account ${accountName}\``;
    throw new LockstepError('CHECK_UNREAD', message);
  }
  const records = list.filter(isJsonObject).slice(0, CONTACTS);
  const mapping = mappingOf(options);
  const contacts = records.map((record): CheckedContact => {
    const { fields, failures, unread } = mapping.map(record);
    const isSelected = mapping.selects(record);
    const checked = mapping.written.map((field): CheckedField => {
      const rule = options.map?.[field];
      const from = rule === undefined || rule === 'none' ? {} : valuesOf(namesOf(rule), record);
      return { field, from, result: fields[field] ?? '' };
    });
    return {
      contact: idOf(record, 'contacts', dialect) ?? '(no id)',
      label: labelOf(fields),
      isSelected,
      fields: checked,
      problems: isSelected
        ? [...problemsOf(failures, unread), ...doubtsAbout(checked), ...unkeyed(keysOf(fields))]
        : [],
    };
  });
  const names = new Set([...Object.values(options.map ?? {}).flatMap(namesOf), ...Object.keys(options.where ?? {})]);
  const isNeverSet = (one: string) => records.length > 0 && records.every((record) => textOf(record, one) === '');
  return { sync: name, account: accountName, contacts, neverSet: [...names].filter(isNeverSet) };
}

/** The contact's fields that a rule reads. */
function namesOf(rule: MapRule | 'none'): readonly string[] {
  if (rule === 'none') return [];
  if (rule.template !== undefined) return contactTemplate(rule.template).names;
  return rule.from === undefined ? [] : [rule.from];
}

// Safe: the settings are checked for these names.
const textOf = (record: JsonObject, name: string) => contactText(record, name as ContactField);

function valuesOf(names: readonly string[], record: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, textOf(record, name)]));
}

function problemsOf(failures: readonly Cause[], unread: readonly Cause[]): readonly string[] {
  const said = ({ code, facts = {} }: Cause) => statementFor(code, facts);
  return [
    ...failures.map((cause) => `${said(cause)} The contact would not be sent.`),
    ...unread.map((cause) => `${said(cause)} It would be sent as it is.`),
  ];
}

function doubtsAbout(fields: readonly CheckedField[]): readonly string[] {
  return fields.flatMap(({ field, result: { length } }) =>
    length > LONG ? [`${field} has ${length} characters; a service may refuse or cut more than ${LONG}.`] : [],
  );
}

function unkeyed({ email, phone, name }: ReturnType<typeof keysOf>): readonly string[] {
  return (email ?? phone ?? name) === undefined ? [statementFor('NO_KEY', null)] : [];
}

/** The contacts of a sync, each with its fields as source → result, and its problems. */
export function checkedLines({ sync, account, contacts, neverSet }: CheckedSync): readonly string[] {
  const selected = contacts.filter(({ isSelected }) => isSelected).length;
  const filter = selected === contacts.length ? '' : `, of which where selects ${selected}`;
  return [
    '',
    `${sync}: ${plural(contacts.length, 'contact')} of account ${account}${filter}`,
    ...contacts.flatMap((contact) => contactLines(contact)),
    ...neverSet.map((name) => `  Warning: none of these contacts has a value in ${name}`),
  ];
}

function contactLines({ contact, label, isSelected, fields, problems }: CheckedContact): readonly string[] {
  const title = `  contact ${contact}, ${label}`;
  if (!isSelected) return [`${title}: left out by where`];
  return [
    title,
    ...fields.flatMap(({ field, from, result }) => {
      const sources = Object.entries(from).map(([name, value]) => `${name} ${shown(value)}`);
      if (sources.length > 0) return [`    ${field}: ${sources.join(' ')} → ${shown(result)}`];
      return result === '' ? [] : [`    ${field}: ${shown(result)}`];
    }),
    ...problems.map((problem) => `    Problem: ${problem}`),
  ];
}

const shown = (text: string) => (text === '' ? '(empty)' : JSON.stringify(text));
