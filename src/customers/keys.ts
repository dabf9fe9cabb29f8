/** What customers are recognised by: normalised keys, and the same fields whichever service answers them. */
import type { JsonObject } from '../client/dialect.ts';
import { LongInteger } from '../client/json.ts';
import type { CustomerFields } from '../contract/records.ts';

/** What people and customers are recognised by, normalised; undefined where there is nothing. */
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
  const fullName = textOf(record.full_name) || textOf(record.name) || textOf(record.fullName);
  const joined = [textOf(record.first_name), textOf(record.last_name)].filter((part) => part !== '').join(' ');
  const fields: Record<string, string> = {
    full_name: fullName || joined,
    gender: textOf(record.gender),
    picture_url: textOf(record.picture_url),
    email: textOf(record.email),
    organization: textOf(record.organization),
    phone_number: textOf(record.phone_number) || textOf(record.phone),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
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

/** Text of any kind. Postgres holds neither NUL nor half a character, as is left where a form cuts an emoji in two. */
export function textOf(value: unknown): string {
  if (typeof value === 'number' || value instanceof LongInteger) return String(value);
  return typeof value === 'string'
    ? value
        .replaceAll('\0', '')
        .replace(/\p{Surrogate}/gu, '\ufffd')
        .trim()
    : '';
}
