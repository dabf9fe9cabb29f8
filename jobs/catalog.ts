/** All jobs, and the first job of each type of sync. */
import type { Catalog } from '../src/engine/worker/job.ts';
import { auditList } from './audit-list.ts';
import { createOrders } from './create-orders.ts';
import { deliverStatus } from './deliver-status.ts';
import { importCustomers } from './import-customers.ts';
import { loadOrders } from './load-orders.ts';
import { readItems } from './read-items.ts';
import { scanContacts } from './scan-contacts.ts';
import { scanTasksJob } from './scan-tasks.ts';
import { settleCustomers } from './settle-customers.ts';
import { settleOrdersJob } from './settle-orders.ts';
import { watchOrders } from './watch-orders.ts';

export const catalog: Catalog = {
  jobs: [
    scanContacts,
    importCustomers,
    settleCustomers,
    watchOrders,
    loadOrders,
    createOrders,
    settleOrdersJob,
    scanTasksJob,
    readItems,
    deliverStatus,
    auditList,
  ],
  syncTypes: {
    contacts: { firstJob: 'scan-contacts', resource: 'customers' },
    orders: { firstJob: 'watch-orders' },
    tasks: { firstJob: 'scan-tasks' },
  },
};
