/** Order customers: import from a contact, create, update, get, list. */
import { absent, found, invalid, type Result } from '../result.ts';
import type { Choices, Handlers } from './handler.ts';
import { listed, written, wrote } from './written.ts';

type Name = 'customers.import' | 'customers.create' | 'customers.update' | 'customers.get' | 'customers.getall';

export function customerHandlers({ importForm, importTwice }: Choices): Pick<Handlers, Name> {
  return {
    async 'customers.import'({ body, records }): Promise<Result> {
      const contactIds = importForm?.contactIds(body) ?? [body.contact_id];
      const outcome = await records.importContacts(contactIds, importTwice);
      const [contactId = 0] = contactIds;
      switch (outcome.status) {
        case 'imported':
          return written(records, 'customer', outcome.ids[0] ?? 0);
        case 'absent':
          return absent('contact', contactId);
        case 'exists-already':
          return { status: 'refused', httpStatus: 409, message: `contact ${contactId} is a customer already` };
        default:
          return outcome satisfies never;
      }
    },
    async 'customers.create'({ body, records }) {
      const naturalKey = body.email ?? body.phone_number ?? body.full_name;
      const write = { operation: 'customers.create', fields: body, naturalKey };
      return wrote(records, 'customer', await records.create('customer', write));
    },
    async 'customers.update'({ body, records }) {
      const { id, tenant_id, ...fields } = body;
      if (tenant_id !== undefined && tenant_id !== records.tenantId) {
        return invalid('tenant_id', 'not the tenant of this API key');
      }
      const write = { operation: 'customers.update', fields, naturalKey: body.email };
      return wrote(records, 'customer', await records.update('customer', id, write));
    },
    async 'customers.get'({ query, records }) {
      return found('customer', query.id, await records.get('customer', query.id));
    },
    'customers.getall': ({ records }) => listed(records, 'customer', 'all'),
  };
}
