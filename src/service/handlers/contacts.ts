/** Contacts: create, update, get, list by page, search. */
import { invalid } from '../result.ts';
import { created, got, listed, updated } from './answers.ts';
import type { Choices, Handlers } from './handler.ts';

export const contactHandlers = ({ paging }: Choices) =>
  ({
    'contacts.create': ({ body, records }) => created(records, 'contact', { fields: body, naturalKey: body.email }),
    'contacts.update': ({ params, body, records }) =>
      updated(records, 'contact', params.contact_id, { fields: body, naturalKey: body.email }),
    'contacts.get': ({ query, records }) => got(records, 'contact', query.contact_id),
    'contacts.getall': ({ query, records }) => listed(records, 'contact', paging.contacts(query)),
    async 'contacts.search'({ query, records }) {
      const term = query.search_term.trim();
      if (term === '') return invalid('search_term', 'expected a word to search for');
      return { status: 'list', kind: 'contact', items: records.searchContacts(term) };
    },
  }) satisfies Partial<Handlers>;
