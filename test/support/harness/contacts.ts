/** For tests of the contact sync: contacts, and the customers made from them. */
import type { NewRun } from '../../../src/engine/ledger/runs.ts';
import { type Harness, openHarness } from './harness.ts';
import type { Needs } from './needs.ts';

/** A run of the harness's sync that a test begins itself. */
export const CONTACT_RUN: NewRun = {
  sync: 'contacts',
  type: 'contacts',
  account: 'test',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  options: {},
  phase: 'import-customers',
};

export type ContactsHarness = ReturnType<typeof withContacts>;

export async function openContactsHarness(needs?: Needs): Promise<ContactsHarness> {
  return withContacts(await openHarness(needs));
}

export function withContacts(harness: Harness) {
  const { call, commitsBy } = harness;
  return Object.assign(harness, {
    /** Adds contacts one after another, so that their ids ascend. */
    async addContacts(contacts: readonly Record<string, unknown>[]): Promise<void> {
      for (const contact of contacts) await call('contacts.create', contact);
    },
    async addCustomers(customers: readonly Record<string, unknown>[]): Promise<void> {
      for (const customer of customers) await call('customers.create', customer);
    },
    async editContact(id: number, changes: Record<string, unknown>): Promise<void> {
      await call('contacts.update', changes, id);
    },
    /** Sorted by the contacts they came from, if they say so: imports run in parallel, so the order of their ids varies. */
    async customers(): Promise<readonly Record<string, unknown>[]> {
      // Safe: our own service answers a list of records here.
      const customers = (await call('customers.getall')) as Record<string, unknown>[];
      return customers.sort((a, b) => Number(a.contact_id) - Number(b.contact_id));
    },
    /** How often each contact was imported: by contact id, or by what was created. */
    commits: () => commitsBy('customers.import', 'customers.create'),
  });
}
