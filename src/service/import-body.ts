/**
 * The body of customers/import, which the contract does not show: ours names one contact as `contact_id`, and the test
 * bed can simulate other likely forms.
 */
import { z } from 'zod';
import { customerImport } from '../contract/records.ts';
import type { Refused } from './result.ts';
import type { Behaviour } from './testbed/behaviour.ts';

const contactId = customerImport.shape.contact_id;

export interface ImportForm {
  readonly schema: z.ZodObject;
  /** The contacts named by a body that has passed `schema`. */
  contactIds(body: Readonly<Record<string, unknown>>): readonly number[];
}

export type ImportSupport = { readonly status: 'form'; readonly form: ImportForm } | Refused;

export function importSupport(importBody: Behaviour['importBody']): ImportSupport {
  switch (importBody) {
    case 'contact_id':
      return one('contact_id', customerImport);
    case 'id':
      return one('id', z.object({ id: contactId }));
    case 'contact_ids': {
      const schema = z.object({ contact_ids: z.array(contactId).min(1).max(1_000) });
      return { status: 'form', form: { schema, contactIds: (body) => schema.parse(body).contact_ids } };
    }
    case 'refused-400':
      return { status: 'refused', httpStatus: 400, message: 'contacts cannot be imported here' };
    case 'refused-404':
      return { status: 'refused', httpStatus: 404, message: 'no such operation: customers/import' };
    case 'refused-405':
      return { status: 'refused', httpStatus: 405, message: 'contacts cannot be imported here' };
    default:
      return importBody satisfies never;
  }
}

function one(name: string, schema: z.ZodObject): ImportSupport {
  return { status: 'form', form: { schema, contactIds: (body) => [contactId.parse(body[name])] } };
}
