/**
 * Maps a contact to an order customer, and hashes the mapped fields to detect changes.
 * The mapping is our choice: the contract lists both sets of fields and no mapping.
 */
import { createHash } from 'node:crypto';
import type { CustomerFields } from '../../contract/records.ts';

/** The customer's fields that come from a contact. */
export const MAPPED_FIELDS = ['full_name', 'email', 'phone_number', 'organization', 'picture_url'] as const;

/** Equal for equal fields, whatever their order. */
export function fieldsHash(fields: CustomerFields): string {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 22);
}
