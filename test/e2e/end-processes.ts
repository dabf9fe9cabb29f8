/** Loaded by vitest with each end-to-end test file: no process started by the file outlives it. */
import { afterAll } from 'vitest';
import { endProcesses } from './cli-process.ts';

afterAll(endProcesses);
