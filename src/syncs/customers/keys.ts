/** The keys that recognise a customer, normalised. Records are in the contract's names (client/call/contract-record.ts). */
import { domainToUnicode } from 'node:url';
import { MASK, unescaped } from '../../base/texts.ts';
import { withoutMarks } from '../../base/visible.ts';
import { flagOf } from '../../client/call/dialect.ts';
import { type JsonObject, textOf } from '../../client/call/json.ts';
import type { CustomerFields } from '../../contract/records.ts';
import { type ContactField, CUSTOMER_FIELDS } from '../../settings/contact-fields.ts';

/** The keys that recognise people and customers, normalised; undefined if the record has none. */
export interface Keys {
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly name: string | undefined;
  readonly org: string | undefined;
}

export function keysOf(customer: CustomerFields): Keys {
  return {
    email: normaliseEmail(customer.email),
    phone: normalisePhone(customer.phone_number),
    name: normaliseText(firstNameFirst(customer.full_name)),
    org: normaliseText(customer.organization),
  };
}

export function customerFieldsOf(record: JsonObject): CustomerFields {
  const fields = CUSTOMER_FIELDS.map((field) => [field, shownText(record[field])]);
  const said: CustomerFields = Object.fromEntries(fields.filter(([, text]) => text !== ''));
  const full_name = said.full_name ?? personNameOf(record);
  return full_name === '' ? said : { ...said, full_name };
}

/** The contact's own data, in the customer's field names. */
export function personFieldsOf(record: JsonObject): CustomerFields {
  const { gender: _, ...fields } = customerFieldsOf({ ...record, phone_number: record.phone ?? '' });
  const full_name = personNameOf(record);
  return full_name === '' ? fields : { ...fields, full_name };
}

/** One field of a contact as text; '' if it has none. Flags are `true` or `false`, also where a service writes 1 or "Y". */
export function contactText(record: JsonObject, field: ContactField): string {
  if (field === 'full_name') return personNameOf(record) || shownText(record.full_name);
  const flag = FLAGS.has(field) ? flagOf(record[field]) : undefined;
  return flag === undefined ? shownText(record[field]) : String(flag);
}

const FLAGS: ReadonlySet<ContactField> = new Set(['by_phone', 'by_email', 'by_text', 'by_social', 'has_client_portal']);

function personNameOf(record: JsonObject): string {
  const parts = [shownText(record.first_name), shownText(record.last_name)];
  return parts.filter((part) => part !== '').join(' ');
}

/** A service may escape texts for HTML, as it stores or as it shows them. Sent back so, they would be escaped twice. */
const shownText = (value: unknown): string => unescaped(textOf(value));

/** How people name the record in reports. */
export function labelOf(customer: CustomerFields): string {
  const { full_name: name = '', email = '', phone_number: phone = '' } = customer;
  if (name !== '' && email !== '') return `${name} <${email}>`;
  return name || email || phone || '(no name)';
}

/** The first e-mail or phone that the service shows in part only, such as `a***@example.com`. */
export function maskedIn({ email, phone_number }: CustomerFields): string | undefined {
  return [email, phone_number].find((key) => key !== undefined && MASK.test(key));
}

/** A domain with umlauts, such as `bücher.example`, is the same in the form of the DNS, `xn--bcher-kva.example`. */
function normaliseEmail(email: string | undefined): string | undefined {
  const written = withoutMarks(plainOf(email)).normalize('NFC').trim().toLowerCase();
  const normal = written.replace(/(?<=@)[^@]*xn--[^@]*$/, (domain) => domainToUnicode(domain) || domain);
  return normal.includes('@') ? normal : undefined;
}

/**
 * Digits only, without the international prefix's marks, and without the zero that is dialled at home only: `+44 (0)161` is
 * `0044 161`. Too few digits are an extension, not a number.
 */
function normalisePhone(phone = ''): string | undefined {
  const international = phone.replace(/^(\s*(?:\+|00)[\s\d.-]*)\(0\)/, '$1');
  const digits = international.replace(/^\s*00/, '').replace(/\D/g, '');
  return digits.length >= 6 ? digits : undefined;
}

/** `Lee, Ann` is Ann Lee: some services show names in this form. */
function firstNameFirst(name: string | undefined): string | undefined {
  return name?.replace(/^([^,]+),([^,]+)$/, '$2 $1');
}

function normaliseText(text: string | undefined): string | undefined {
  const normal = withoutMarks(plainOf(text)).normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
  return normal === '' ? undefined : normal;
}

/** A file may have escaped texts too, so the keys of both are compared without any escapes. */
function plainOf(text = ''): string {
  const plain = unescaped(text);
  return plain === text ? plain : plainOf(plain);
}
