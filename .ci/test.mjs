// npm test (`short`) and npm run test:full (`full`): install what is missing, then run tests, with the arguments given.
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';
import { handOver } from './hand-over.mjs';

ensureInstalled();
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs');
const [set, ...args] = process.argv.slice(2);
// A file or a test that is named is looked for among all tests.
const isShort = set === 'short' && args.every((arg) => arg.startsWith('-'));
const config = isShort ? 'vitest.short.config.ts' : 'vitest.config.ts';
handOver(vitest, ['run', `--config=${config}`, '--exclude=**/*.long.test.ts', ...args], { cwd: root });
