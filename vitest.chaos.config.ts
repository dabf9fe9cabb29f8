import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'chaos',
    include: ['test/chaos/**/*.test.ts', 'test/syncs/orders/*-property.test.ts'],
    env: { PROPERTY_RUNS: '20' },
    globalSetup: './test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 10 * 60_000,
    hookTimeout: 2 * 60_000,
  },
});
