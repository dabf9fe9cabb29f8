import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'chaos',
    include: [
      'test/chaos/**/*.test.ts',
      'test/syncs/*/*-property.test.ts',
      'test/engine/ledger/{prune,transitions}.test.ts',
    ],
    env: { PROPERTY_RUNS: '40' },
    globalSetup: './test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 10 * 60_000,
    hookTimeout: 2 * 60_000,
  },
});
