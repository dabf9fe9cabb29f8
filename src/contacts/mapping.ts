/**
 * A contact as an order customer: which fields become which, and the hash that tells whether anything mapped has changed.
 * Source: our choice, the contract lists both field sets and no mapping.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../client/dialect.ts';
import type { CustomerFields } from '../contract/records.ts';
import { textOf } from '../customers/keys.ts';

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

/** Equal for equal fields, whatever their order. */
export function hashOf(fields: CustomerFields): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 22);
}
