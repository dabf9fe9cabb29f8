import { defineConfig } from 'vitest/config';

/** The tests of the pure modules that `stryker.json` changes. They need no database. */
export default defineConfig({
  test: {
    include: [
      'test/base/amount.test.ts',
      'test/settings/next-start.test.ts',
      'test/client/budget/{safe-limits,hints}.test.ts',
    ],
    pool: 'forks',
    isolate: false,
  },
});
