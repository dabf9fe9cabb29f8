/** The options of a contact sync, as its runs keep them. */
import { z } from 'zod';
import { contactsOptions as inSettings } from '../../settings/schema-sync.ts';
import { approvalOptions } from '../guards.ts';

export const contactsRunOptions = z.object({ ...inSettings.shape, ...approvalOptions.shape });

export type ContactsOptions = z.infer<typeof contactsRunOptions>;

/** customers.import leaves the fields to the service, so customers with a mapping are created. */
export function createsCustomers({ importWith, map }: ContactsOptions): boolean {
  return importWith === 'create' || map !== undefined;
}
