import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** More people, shapes of answers and orders of events for promises that other files test too: what `npm test` leaves out. */
const LEFT_OUT = [
  'console/{bull-board,load,load-api,load-corrections,record-changes,record-creates,records,review,review-pages,twice}',
  'e2e/{alerts,approval,audits,deployment,failures,folder-approval,folder-changes,folder-poison,forbidden,identity,orders-kill}',
  'e2e/{orders-real-files,own-runs,package,plans,same-file,service-key,shared-tenant,start-log,target-secrets,traces,witnesses}',
  'engine/worker/{queue,redis}',
  'jobs/{contact-mapping,contact-matching,dialect-combinations,dialects,first-orders,framework-services,odd-answers,odd-lists,odd-members,odd-services,odd-writes,review,review-creations,review-files}',
  'jobs/load-orders-{contacts,customers,dialects,faults,numbered,saved-again,together,waits}',
  'jobs/{random-ids,scan-tasks-dialects,schedules,statement-growth,unlike-services}',
  'mirror/inbound/{read-back,recurring-items}',
  'mirror/outbox/details',
  'mirror/targets/{detail-faults,own-targets-run,token-kill}',
  'mirror/tasks/new-items',
  'operator/run-actions',
].map((files) => `test/${files}.test.ts`);

export default mergeConfig(all, { test: { exclude: LEFT_OUT } });
