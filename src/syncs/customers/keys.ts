/** The keys that recognise a customer: normalised, and from the same fields whatever the service calls them. */
import { memberNamed } from '../../client/call/dialect.ts';
import { type JsonObject, textOf } from '../../client/call/json.ts';
import type { CustomerFields } from '../../contract/records.ts';
import type { ContactField } from '../../settings/contact-fields.ts';

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
    name: normaliseText(customer.full_name),
    org: normaliseText(customer.organization),
  };
}

/** A customer as another service may answer it, in the contract's field names. */
export function customerFieldsOf(record: JsonObject): CustomerFields {
  const fields: Record<string, string> = {
    full_name: textNamed(record, NAMES) || personNameOf(record),
    gender: textNamed(record, ['gender']),
    picture_url: textNamed(record, PICTURES),
    email: textNamed(record, EMAILS),
    organization: textNamed(record, ORGANIZATIONS),
    phone_number: textNamed(record, PHONES),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** In lower case, because names are compared without case; the contract's names first. */
const NAMES = ['full_name', 'name', 'fullname', 'customer_name', 'customername'];
const EMAILS = ['email', 'email_address', 'emailaddress', 'e_mail', 'mail'];
const PHONES = ['phone_number', 'phone', 'phonenumber', 'mobile', 'telephone'];
const ORGANIZATIONS = ['organization', 'organisation', 'company', 'company_name', 'companyname'];
const PICTURES = ['picture_url', 'pictureurl'];

/** The contact's own data, in the customer's field names. */
export function personFieldsOf(record: JsonObject): CustomerFields {
  const { gender: _, full_name: whole = '', ...fields } = customerFieldsOf(record);
  const full_name = personNameOf(record) || whole;
  return full_name === '' ? fields : { ...fields, full_name };
}

/** One field of a contact as text; '' if it has none. Flags are `true` or `false`, also where a service writes 1 or 0. */
export function contactText(record: JsonObject, field: ContactField): string {
  if (field === 'full_name') return personNameOf(record) || textNamed(record, NAMES);
  const names = NAMES_OF[field] ?? [field.toLowerCase(), field.toLowerCase().replaceAll('_', '')];
  const text = textNamed(record, names);
  if (!FLAGS.has(field)) return text;
  const member = memberNamed(record, names);
  const flag = member !== undefined && typeof record[member] === 'boolean' ? String(record[member]) : text;
  return flag === '1' ? 'true' : flag === '0' ? 'false' : flag;
}

const NAMES_OF: Readonly<Partial<Record<ContactField, readonly string[]>>> = {
  email: EMAILS,
  phone: PHONES,
  organization: ORGANIZATIONS,
  picture_url: PICTURES,
};

const FLAGS: ReadonlySet<ContactField> = new Set(['by_phone', 'by_email', 'by_text', 'by_social', 'has_client_portal']);

function personNameOf(record: JsonObject): string {
  const parts = [textNamed(record, ['first_name', 'firstname']), textNamed(record, ['last_name', 'lastname'])];
  return parts.filter((part) => part !== '').join(' ');
}

/** The first text among these members that is not empty. */
function textNamed(record: JsonObject, names: readonly string[]): string {
  for (const name of names) {
    const member = memberNamed(record, [name]);
    const text = member === undefined ? '' : textOf(record[member]);
    if (text !== '') return text;
  }
  return '';
}

/** How people name the record in reports. */
export function labelOf(customer: CustomerFields): string {
  const { full_name: name = '', email = '', phone_number: phone = '' } = customer;
  if (name !== '' && email !== '') return `${name} <${email}>`;
  return name || email || phone || '(no name)';
}

function normaliseEmail(email: string | undefined): string | undefined {
  const normal = email?.normalize('NFC').trim().toLowerCase() ?? '';
  return normal.includes('@') ? normal : undefined;
}

/** Digits only, without the international prefix's marks; too few of them are an extension, not a number. */
function normalisePhone(phone: string | undefined): string | undefined {
  const digits = (phone ?? '').replace(/^\s*00/, '').replace(/\D/g, '');
  return digits.length >= 6 ? digits : undefined;
}

function normaliseText(text: string | undefined): string | undefined {
  const normal = text?.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase() ?? '';
  return normal === '' ? undefined : normal;
}
