import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** More people, shapes of answers and orders of events for promises that other files test too: what `npm test` leaves out. */
const LEFT_OUT = [
  'console/{load,load-api,load-corrections,record-changes,record-creates,records,review,review-pages,twice}',
  'e2e/{approval,audits,deployment,failures,folder-approval,folder-changes,identity,orders-real-files,own-runs,package,plans,same-file,start-log}',
  'engine/worker/{queue,redis}',
  'jobs/{contact-mapping,contact-matching,dialect-combinations,first-orders,framework-services,odd-answers,odd-lists,odd-members,odd-services,odd-writes,review,review-creations,review-files}',
  'jobs/load-orders-{contacts,customers,saved-again,together,waits}',
  'jobs/{random-ids,scan-tasks-dialects,schedules,statement-growth,unlike-services}',
  'mirror/inbound/{read-back,recurring-items}',
  'mirror/outbox/details',
  'mirror/targets/detail-faults',
  'mirror/tasks/new-items',
  'operator/run-actions',
].map((files) => `test/${files}.test.ts`);

export default mergeConfig(all, { test: { exclude: LEFT_OUT } });
