import { mergeConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** Whole runs, processes, databases and vendors: what core, the part to run while working, leaves out. */
const E2E = [
  'e2e/**/*',
  'jobs/**/*',
  'operator/doctor/**/*',
  'cli/run',
  'console/**/*',
  'operator/alerts/watch',
  'cli/doctor',
  'cli/links',
  'cli/runs',
  'client/budget/discovery',
  'engine/create-protocol',
  'engine/worker/*',
  'mirror/inbound/**/*',
  'mirror/outbox/details',
  'mirror/targets/*',
  'mirror/tasks/new-items',
  'storage/embedded/**/*',
].map((files) => `test/${files}.test.ts`);

export default mergeConfig(all, { test: { exclude: E2E } });
