/** Contacts: create, update, get, list by page, search. */
import { found, invalid } from '../result.ts';
import type { Choices, Handlers } from './handler.ts';
import { listed, wrote } from './written.ts';

type Name = 'contacts.create' | 'contacts.update' | 'contacts.get' | 'contacts.getall' | 'contacts.search';

export function contactHandlers({ paging }: Choices): Pick<Handlers, Name> {
  return {
    async 'contacts.create'({ body, records }) {
      const write = { operation: 'contacts.create', fields: body, naturalKey: body.email };
      return wrote(records, 'contact', await records.create('contact', write));
    },
    async 'contacts.update'({ params, body, records }) {
      const id = params.contact_id;
      const write = { operation: 'contacts.update', fields: body, naturalKey: body.email };
      return wrote(records, 'contact', await records.update('contact', id, write));
    },
    async 'contacts.get'({ query, records }) {
      return found('contact', query.contact_id, await records.get('contact', query.contact_id));
    },
    async 'contacts.getall'({ query, records }) {
      return listed(records, 'contact', paging.contacts(query));
    },
    async 'contacts.search'({ query, records }) {
      const term = query.search_term.trim();
      if (term === '') return invalid('search_term', 'expected a word to search for');
      return { status: 'list', kind: 'contact', items: records.searchContacts(term) };
    },
  };
}
