/** The table of contents: every job, and which one each type of sync begins with. */
import type { Catalog } from '../src/worker/job.ts';
import { importCustomers } from './import-customers.ts';
import { scanContacts } from './scan-contacts.ts';
import { settleUnknown } from './settle-unknown.ts';

export const catalog: Catalog = {
  jobs: [scanContacts, importCustomers, settleUnknown],
  syncTypes: {
    contacts: { firstJob: 'scan-contacts', resource: 'customers' },
  },
};
