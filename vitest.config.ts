import { defineConfig } from 'vitest/config';

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
          // Whole runs and processes are in e2e: this project is the part to run while working.
          exclude: ['test/e2e/**', 'test/embedded/**', 'test/jobs/**', 'test/doctor/**', 'test/chaos/**'],
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
          include: [
            'test/e2e/**/*.test.ts',
            'test/embedded/**/*.test.ts',
            'test/jobs/**/*.test.ts',
            'test/doctor/**/*.test.ts',
          ],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
