/** The order of test files: those that take long begin first, or one of them would run alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longer than their size shows; vitest begins with the largest of the others. */
const LONG = [
  'e2e/orders-kill',
  'e2e/task-mirror',
  'jobs/load-orders-customers',
  'e2e/orders-command',
  'e2e/folder-changes',
  'jobs/load-orders-dialects',
  'jobs/dialect-combinations',
  'jobs/outages',
  'storage/embedded/recovery',
  'e2e/faults',
  'e2e/failures',
  'storage/embedded/sharing',
  'console/pages',
  'console/load',
  'console/access',
  'e2e/package',
  'storage/embedded/user',
  'e2e/canary',
  'e2e/contact-sync',
  'e2e/kill',
  'e2e/same-file',
  'engine/worker/runner',
  'mirror/outbox/order',
  'syncs/contacts/recall-property',
  'syncs/contacts/decide-property',
  'engine/dispatch/conformance',
  'mirror/outbox/delivering',
  'client/call/bad-bodies',
  'cli/links',
  'syncs/contacts/matching',
  'syncs/orders/settle-property',
  'cli/doctor',
  'engine/worker/queue',
  'client/budget/discovery',
  'syncs/orders/keys-property',
  'client/budget/postgres-store',
  'client/budget/redis-store',
];

export class LongestFirst extends BaseSequencer {
  /** Keeps the projects apart: each worker has the modules of one. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at === -1 ? LONG.length : at;
}
