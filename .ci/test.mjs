// npm test: installs what is missing, then runs the tests with the arguments given.
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';
import { handOver } from './hand-over.mjs';

ensureInstalled();
handOver(path.join(root, 'node_modules/vitest/vitest.mjs'), ['run', ...process.argv.slice(2)], { cwd: root });
