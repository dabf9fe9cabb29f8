/** The options of a contact sync, as its runs keep them. The settings have the defaults (settings/schema-sync.ts). */
import { z } from 'zod';
import { contactFilter } from '../../settings/contact-filter.ts';
import { contactMap } from '../../settings/contact-map.ts';
import { approvalOptions } from '../approval.ts';

export const contactsOptions = z.object({
  rowsPerPage: z.number().int().min(1),
  importWith: z.enum(['auto', 'import', 'create']),
  onChange: z.enum(['update', 'ignore']),
  matchBy: z.array(z.enum(['email', 'phone', 'name'])),
  ...approvalOptions.shape,
  map: contactMap.optional(),
  where: contactFilter.optional(),
});

export type ContactsOptions = z.infer<typeof contactsOptions>;

/** customers.import leaves the fields to the service, so customers with a mapping are created. */
export function createsCustomers({ importWith, map }: ContactsOptions): boolean {
  return importWith === 'create' || map !== undefined;
}
