// npm run demo: installs what is missing, then starts `lockstep demo` with the arguments given.
import path from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';
import { handOver } from './hand-over.mjs';

ensureInstalled();
handOver(path.join(root, 'src/cli/bin/lockstep.mjs'), ['demo', ...process.argv.slice(2)]);
