/**
 * A contact as an order customer: which fields become which, what makes two of them the same person, and the hash that
 * tells whether anything mapped has changed. Source: our choice, the contract lists both field sets and no mapping.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../client/dialect.ts';
import type { CustomerFields } from '../contract/records.ts';

/** The customer's fields that a contact decides. */
export const MAPPED_FIELDS = ['full_name', 'email', 'phone_number', 'organization', 'picture_url'] as const;

/** The contact's mapped fields; what is missing or empty there is left out. */
export function customerOf(contact: JsonObject): CustomerFields {
  const fullName = [textOf(contact.first_name), textOf(contact.last_name)].filter((part) => part !== '').join(' ');
  const mapped: Record<string, string> = {
    full_name: fullName,
    email: textOf(contact.email),
    phone_number: textOf(contact.phone),
    organization: textOf(contact.organization),
    picture_url: textOf(contact.picture_url),
  };
  return Object.fromEntries(Object.entries(mapped).filter(([, value]) => value !== ''));
}

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

/** Equal for equal fields, whatever their order. */
export function hashOf(fields: CustomerFields): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 22);
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
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string'
    ? value
        .replaceAll('\0', '')
        .replace(/\p{Surrogate}/gu, '\ufffd')
        .trim()
    : '';
}
