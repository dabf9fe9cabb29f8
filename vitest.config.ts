import { defineConfig } from 'vitest/config';
import { useMemory } from './test/support/in-memory.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { PATIENT } from './test/support/patient.ts';

useMemory();

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/chaos/**'],
    // Starts one Postgres and one Redis for all files.
    globalSetup: './test/support/global-setup.ts',
    setupFiles: './test/e2e/end-processes.ts',
    pool: 'forks',
    // More processes than cores: threads that collect garbage would wait for each other, and each collection copies what is in use.
    execArgv: ['--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'],
    // Keeps compiled modules in node_modules: a run of one file compiles for longer than it tests.
    experimental: { fsModuleCache: true },
    expect: { poll: PATIENT },
    // Only for what hangs: a machine that does much else takes ten times as long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Loading the modules again for each file takes as long as the tests. So nothing may stay in them from file to file.
    isolate: false,
    // More than the 2 cores that are meant, because tests wait for settle times and processes more than they work.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    coverage: { provider: 'v8', include: ['src/**', 'jobs/**'], reporter: ['text-summary', 'html'] },
  },
});
