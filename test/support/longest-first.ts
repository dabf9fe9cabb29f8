/** The order of test files: those that take long begin first, or one of them would run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longer than their size shows; vitest begins with the largest of the others. */
const LONG = [
  'e2e/package',
  'mirror/targets/detail-faults',
  'e2e/orders-kill',
  'console/load',
  'console/load-corrections',
  'jobs/review',
  'jobs/odd-answers',
  'e2e/audits',
  'e2e/plans',
  'e2e/identity',
  'e2e/folder-changes',
  'jobs/load-orders',
  'e2e/orders-real-files',
  'mirror/inbound/read-back',
  'mirror/inbound/convergence',
  'e2e/own-runs',
  'jobs/contact-mapping',
  'e2e/contact-sync',
  'console/access',
  'console/records',
  'console/record-creates',
  'console/review-pages',
  'jobs/scan-tasks-dialects',
  'jobs/dialect-combinations',
  'jobs/load-orders-together',
  'e2e/orders-command',
  'jobs/load-orders-customers',
  'jobs/load-orders-dialects',
  'e2e/failures',
  'e2e/faults',
  'e2e/start',
  'storage/embedded/access',
  'engine/worker/runner',
  'mirror/outbox/details',
  'client/budget/discovery',
  'mirror/outbox/delivering',
  'mirror/outbox/order',
  'engine/ledger/matching/settle-orders-property',
  'cli/runs',
  'cli/links',
  'client/call/bad-bodies',
  'mirror/links/named-items',
  'client/budget/concurrency',
  'engine/dispatch/conformance',
  'engine/worker/queue',
  'engine/ledger/matching/recall-contacts-property',
  'client/budget/postgres-store',
  'client/budget/redis-store',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at === -1 ? LONG.length : at;
}
