import { defineConfig } from 'vitest/config';
import { PATIENT } from './test/support/patient.ts';

export default defineConfig({
  test: {
    name: 'chaos',
    include: [
      'test/chaos/**/*.test.ts',
      'test/**/*.long.test.ts',
      // These try more with the long tests: test/support/property-runs.ts.
      'test/engine/ledger/matching/*-property.test.ts',
      'test/e2e/{faults,orders-kill,folder-changes}.test.ts',
      'test/jobs/{dialect-combinations,load-orders-dialects,load-orders-faults,framework-services,review-model,statement-growth,unlike-services}.test.ts',
      'test/mirror/{inbound/convergence,outbox/order}.test.ts',
      'test/engine/ledger/{transitions,schedules-model,retention/prune}.test.ts',
    ],
    env: { PROPERTY_RUNS: '40' },
    setupFiles: './test/e2e/end-processes.ts',
    globalSetup: './test/support/global-setup.ts',
    pool: 'forks',
    expect: { poll: PATIENT },
    maxWorkers: 1,
    testTimeout: 10 * 60_000,
    hookTimeout: 2 * 60_000,
  },
});
