/**
 * A contact as an order customer: which fields become which, and the hash that tells whether anything mapped has changed.
 * Source: our choice, the contract lists both field sets and no mapping.
 */
import { createHash } from 'node:crypto';
import type { CustomerFields } from '../contract/records.ts';

/** The customer's fields that a contact decides. */
export const MAPPED_FIELDS = ['full_name', 'email', 'phone_number', 'organization', 'picture_url'] as const;

/** Equal for equal fields, whatever their order. */
export function hashOf(fields: CustomerFields): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 22);
}
