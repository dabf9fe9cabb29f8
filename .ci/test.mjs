// npm test: installs what is missing, then runs all tests except the long ones, with the arguments given.
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';
import { handOver } from './hand-over.mjs';

ensureInstalled();
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
handOver(vitest, ['run', '--exclude=**/*.long.test.ts', ...process.argv.slice(2)], { cwd: root });
