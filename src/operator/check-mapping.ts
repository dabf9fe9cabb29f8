/** Applies the mapping and the filter of a contact sync to a few contacts of its service. */
import { plural } from '../base/counts.ts';
import { LockstepError } from '../base/errors.ts';
import type { Cause } from '../base/reasons/reason.ts';
import { remedyFor, statementFor } from '../base/reasons/reasons.ts';
import type { CallOptions } from '../client/call/client.ts';
import { listIn } from '../client/call/decode.ts';
import { idOf, isJsonObject } from '../client/call/dialect.ts';
import type { JsonObject } from '../client/call/json.ts';
import type { Account } from '../engine/account/account.ts';
import { isMarkedDeleted } from '../engine/account/look-up.ts';
import type { ContactField } from '../settings/contact-fields.ts';
import type { MapRule } from '../settings/contact-map.ts';
import { contactTemplate } from '../settings/contact-template.ts';
import { type Settings, type SyncSettings, syncNamed } from '../settings/settings.ts';
import { type ContactMapping, mappingOf } from '../syncs/contacts/mapping.ts';
import { contactText, keysOf, labelOf } from '../syncs/customers/keys.ts';

/** Contacts of each sync that are shown, and how many that the filter leaves out. */
const CONTACTS = 10;
const LEFT_OUT = 3;
/** Contacts that are read to find them, at most; a service may send fewer on a page than it is asked for. */
const MOST_READ = 500;
const PAGE = 100;
const MOST_PAGES = 10;
/** Texts that are longer are a problem at many services; the contract does not say what is too long. */
const LONG = 255;

export type ContactsSync = Extract<SyncSettings, { type: 'contacts' }>;

export interface CheckedSync {
  readonly sync: string;
  readonly account: string;
  /** How many contacts were read. */
  readonly read: number;
  /** The first ones that the filter selects, and the first ones that it leaves out. */
  readonly contacts: readonly CheckedContact[];
  /** Fields of contacts that the settings name, and that none of the contacts that were read has. */
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

type Reading = Pick<CallOptions, 'signal' | 'maxWaitMs'>;

/** @throws LockstepError SETTINGS_NAME_UNKNOWN, SYNC_WITHOUT_MAPPING */
export function mappedSync(settings: Settings, name: string): ContactsSync {
  const sync = syncNamed(settings, name);
  if (sync.type === 'contacts') return sync;
  throw new LockstepError('SYNC_WITHOUT_MAPPING', `Sync ${name} has no mapping: only syncs of contacts have one.`);
}

/** @throws LockstepError CHECK_UNREAD */
export async function checkMapping(sync: ContactsSync, account: Account, reading: Reading): Promise<CheckedSync> {
  const { name, account: accountName, options } = sync;
  const mapping = mappingOf(options);
  const selected: JsonObject[] = [];
  const leftOut: JsonObject[] = [];
  const names = new Set([...Object.values(options.map ?? {}).flatMap(namesOf), ...Object.keys(options.where ?? {})]);
  const neverSet = new Set(names);
  let read = 0;
  for await (const record of firstContacts(sync, account, reading)) {
    read += 1;
    if (isMarkedDeleted(record, 'contacts')) continue;
    (mapping.selects(record) ? selected : leftOut).push(record);
    for (const one of neverSet) if (textOf(record, one) !== '') neverSet.delete(one);
    if (selected.length === CONTACTS || read === MOST_READ) break;
  }
  const check = (record: JsonObject) => checkContact(sync, mapping, account, record);
  const contacts = [...selected, ...leftOut.slice(0, LEFT_OUT)].map(check);
  return { sync: name, account: accountName, read, contacts, neverSet: read === 0 ? [] : [...neverSet] };
}

/** The contacts of the first pages, each once. */
async function* firstContacts(
  { account: accountName, options: { where } }: ContactsSync,
  { client, dialect }: Account,
  reading: Reading,
): AsyncGenerator<JsonObject> {
  const size = where === undefined ? CONTACTS : PAGE;
  const seen = new Set<string>();
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { [dialect.pageParam]: page, [dialect.rowsPerPageParam]: size };
    const outcome = await client.call('contacts.getall', { lane: 'interactive', query, ...reading });
    const asked = { of: 'content', isPage: page > 0 } as const;
    const found = outcome.status === 'applied' ? listIn(outcome.content, dialect, 'contacts', asked) : undefined;
    if (found === undefined) {
      const why = 'message' in outcome ? outcome.message : 'the answer contains no list of contacts';
      const message = `The contacts of account "${accountName}" could not be read: ${why}. Find out more with: \`lockstep doctor --account ${accountName}\``;
      throw new LockstepError('CHECK_UNREAD', message);
    }
    const fresh = found.list.filter(isJsonObject).filter((record) => {
      const id = idOf(record, 'contacts', dialect);
      return id === undefined || !seen.has(id);
    });
    for (const record of fresh) seen.add(idOf(record, 'contacts', dialect) ?? '');
    yield* fresh;
    const isMaybeEmptyPageZero = page === 0; // some services count pages from 1
    if (fresh.length === 0 && !isMaybeEmptyPageZero) return;
  }
}

function checkContact(
  { options }: ContactsSync,
  mapping: ContactMapping,
  { dialect }: Account,
  record: JsonObject,
): CheckedContact {
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
    problems: isSelected ? [...problemsOf(failures, unread), ...doubtsAbout(checked), ...unkeyed(keysOf(fields))] : [],
  };
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
  const said = ({ code, facts = {} }: Cause, so: string) =>
    [statementFor(code, facts), so, remedyFor(code, facts)].filter((part) => part !== undefined).join(' ');
  return [
    ...failures.map((cause) => said(cause, 'The contact would not be sent.')),
    ...unread.map((cause) => said(cause, 'It would be sent as it is.')),
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
export function checkedLines({ sync, account, read, contacts, neverSet }: CheckedSync): readonly string[] {
  const selected = contacts.filter(({ isSelected }) => isSelected).length;
  const all = `${plural(read, 'contact')} of account ${account}`;
  return [
    '',
    `${sync}: ${selected === read ? all : `where selects ${selected || 'none'} of the first ${all}`}`,
    ...contacts.flatMap((contact) => contactLines(contact)),
    ...neverSet.map((name) => `  Warning: none of the contacts that were read has a value in ${name}`),
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
