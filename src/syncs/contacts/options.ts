/** The options of a contact sync, as its runs keep them. The settings have the defaults (settings/schema-sync.ts). */
import { z } from 'zod';

export const contactsOptions = z.object({
  rowsPerPage: z.number().int().min(1),
  importWith: z.enum(['auto', 'import', 'create']),
  onChange: z.enum(['update', 'ignore']),
  matchBy: z.array(z.enum(['email', 'phone', 'name'])),
  approveAbove: z.number().optional(),
  approveAboveShare: z.number().optional(),
});

export type ContactsOptions = z.infer<typeof contactsOptions>;
