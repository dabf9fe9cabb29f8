import { defineConfig } from 'vitest/config';

/** Whole runs, processes and databases: what core, the part to run while working, leaves out. */
const E2E = ['e2e', 'embedded', 'jobs', 'doctor', 'reports', 'own-targets'].map((room) => `test/${room}/**/*.test.ts`);

export default defineConfig({
  test: {
    // Starts one Postgres and one Redis for all projects.
    globalSetup: './test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'core',
          include: ['test/**/*.test.ts'],
          exclude: [...E2E, 'test/chaos/**'],
          // Loading the modules anew for each file takes as long as the tests. So nothing may stay in them from test to test.
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: E2E,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
