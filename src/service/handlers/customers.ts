/** Order customers: import from a contact, create, update, get, list. */
import { absent, invalid } from '../result.ts';
import { created, got, listed, updated, written } from './answers.ts';
import type { Choices, Handlers } from './handler.ts';

export const customerHandlers = ({ importForm, importTwice }: Choices) =>
  ({
    async 'customers.import'({ body, records }) {
      const contactIds = importForm?.contactIds(body) ?? [body.contact_id];
      const outcome = await records.importContacts(contactIds, importTwice);
      const [contactId = 0] = contactIds;
      switch (outcome.status) {
        case 'imported':
          return written(records, 'customer', outcome.ids[0] ?? 0);
        case 'absent':
          return absent('contact', contactId);
        case 'exists-already':
          return { status: 'refused', httpStatus: 409, message: `contact ${contactId} is already a customer` };
        default:
          return outcome satisfies never;
      }
    },
    'customers.create': ({ body, records }) =>
      created(records, 'customer', { fields: body, naturalKey: body.email ?? body.phone_number ?? body.full_name }),
    async 'customers.update'({ body, records }) {
      const { id, tenant_id, ...fields } = body;
      if (tenant_id !== undefined && tenant_id !== records.tenantId) {
        return invalid('tenant_id', 'not the tenant of this API key');
      }
      return updated(records, 'customer', id, { fields, naturalKey: body.email });
    },
    'customers.get': ({ query, records }) => got(records, 'customer', query.id),
    'customers.getall': ({ records }) => listed(records, 'customer', 'all'),
  }) satisfies Partial<Handlers>;
