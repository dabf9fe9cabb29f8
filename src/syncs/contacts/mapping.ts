/**
 * Maps a contact to an order customer, and hashes the mapped fields to detect changes. Without `map` in the settings the
 * mapping is our choice: the contract lists both sets of fields and no mapping.
 */
import { createHash } from 'node:crypto';
import { testOf } from '../../base/condition.ts';
import { perKey } from '../../base/per-key.ts';
import { hasExtension, toE164 } from '../../base/phone.ts';
import type { Cause } from '../../base/reasons/reason.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { CustomerFields } from '../../contract/records.ts';
import { type ContactField, CUSTOMER_FIELDS, type CustomerField } from '../../settings/contact-fields.ts';
import type { ContactFilter } from '../../settings/contact-filter.ts';
import type { ContactMap, MapRule, Transform } from '../../settings/contact-map.ts';
import { contactTemplate } from '../../settings/contact-template.ts';
import { contactText, personFieldsOf } from '../customers/keys.ts';
import type { ContactsOptions } from './options.ts';

/** The customer's fields that come from a contact without a `map`. */
export const MAPPED_FIELDS = ['full_name', 'email', 'phone_number', 'organization', 'picture_url'] as const;

export interface MappedContact {
  /** What is sent; fields without a value are left out. */
  readonly fields: CustomerFields;
  /** Why the contact must not be sent. */
  readonly failures: readonly Cause[];
  /** Phone numbers that cannot be read and are sent as they are. */
  readonly unread: readonly Cause[];
}

export interface ContactMapping {
  /** The fields of the customer that it writes; one that becomes empty is emptied at the customer. */
  readonly written: readonly CustomerField[];
  readonly map: (contact: JsonObject) => MappedContact;
  /** Whether `where` selects the contact. */
  readonly selects: (contact: JsonObject) => boolean;
}

/** The mapping of a sync's options. */
export function mappingOf({ map, where }: Pick<ContactsOptions, 'map' | 'where'>): ContactMapping {
  const selects = where === undefined ? () => true : selectorOf(where);
  if (map === undefined) return { written: MAPPED_FIELDS, map: unmapped, selects };
  const written = CUSTOMER_FIELDS.filter((field) => (map[field] ?? unmappedRule(field)) !== 'none');
  return { written, map: (contact) => mapContact(map, contact), selects };
}

/** The mapping of a sync without `map` and `where`. */
export const UNMAPPED = mappingOf({});

const NONE: readonly Cause[] = [];

function unmapped(contact: JsonObject): MappedContact {
  return { fields: personFieldsOf(contact), failures: NONE, unread: NONE };
}

const unmappedRule = (field: CustomerField) => (MAPPED_FIELDS.some((one) => one === field) ? 'unchanged' : 'none');

function mapContact(map: ContactMap, contact: JsonObject): MappedContact {
  const fields: Partial<Record<CustomerField, string>> = { ...personFieldsOf(contact) };
  const failures: Cause[] = [];
  const unread: Cause[] = [];
  for (const field of CUSTOMER_FIELDS) {
    const rule = map[field];
    if (rule === undefined) continue;
    delete fields[field];
    if (rule === 'none') continue;
    const { value, unreadable } = resultOf(rule, contact);
    if (value !== '') fields[field] = value;
    if (unreadable) {
      const code = hasExtension(unreadable.value, unreadable.country) ? 'MAP_PHONE_EXTENSION' : 'MAP_NOT_A_PHONE';
      if (rule.strict) failures.push({ code, facts: { field, ...unreadable } });
      else unread.push({ code, facts: { field, ...unreadable, sent: true } });
    }
    if (value === '' && rule.required) failures.push({ code: 'MAP_EMPTY', facts: { field } });
  }
  return { fields, failures, unread };
}

interface Value {
  readonly value: string;
  /** The text that should be a phone number, and the country in which it is none. */
  readonly unreadable?: { readonly value: string; readonly country?: string };
}

function resultOf(rule: MapRule, contact: JsonObject): Value {
  const { transform = [], default: otherwise = '' } = rule;
  let result: Value = { value: sourceText(rule, contact) };
  for (const one of [transform].flat()) result = { ...result, ...transformed(result.value, one) };
  return result.value === '' ? { ...result, value: otherwise } : result;
}

/** The value of a rule before its transforms. */
export function sourceText({ from, template, value = '' }: MapRule, contact: JsonObject): string {
  if (from !== undefined) return contactText(contact, from);
  // Safe: the settings are checked for the names in templates.
  return template === undefined
    ? value
    : templateOf(template).render((name) => contactText(contact, name as ContactField));
}

/** Each template is compiled once: a sync renders it for every contact. */
const templateOf = perKey(contactTemplate);

function transformed(value: string, transform: Transform): Value {
  if (value === '') return { value };
  if (transform === 'trim') return { value: value.trim() };
  if (transform === 'lower') return { value: value.toLowerCase() };
  if (transform === 'upper') return { value: value.toUpperCase() };
  const country = transform === 'phone' ? undefined : transform.phone;
  const number = toE164(value, country);
  return number === undefined
    ? { value, unreadable: { value: value.slice(0, MOST_SHOWN), ...(country && { country }) } }
    : { value: number };
}

const MOST_SHOWN = 40;

/** Equal for equal fields, whatever their order. */
export function fieldsHash(fields: CustomerFields): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 22);
}

/** Which contacts a sync imports: those for which all conditions of its `where` hold. */
function selectorOf(filter: ContactFilter): (contact: JsonObject) => boolean {
  // Safe: the schema knows these names only.
  const fields = Object.keys(filter) as ContactField[];
  const tests = fields.flatMap((field) => {
    const condition = filter[field];
    if (condition === undefined) return [];
    const holds = testOf(condition);
    return [(contact: JsonObject) => holds(contactText(contact, field))];
  });
  return (contact) => tests.every((test) => test(contact));
}
