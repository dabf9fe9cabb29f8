/**
 * A worker host among others: `begin` receives the load of each account and ends, `work` works on all runs until it is
 * disconnected.
 *   node hosts-process.ts begin|work DATA_DIR SETTINGS_YAML [FILE]
 */
import path from 'node:path';
import pino from 'pino';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { receiveLoad } from '../src/syncs/orders/receive-load.ts';

const [, , role, dataDir = '', text = '', source = ''] = process.argv;
const parsed = parseSettings({ text, file: 'bench.yaml', env: process.env });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const log = pino({ level: 'warn' }, pino.destination(2));
const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env: process.env, log });

if (role === 'work') {
  await workspace.work();
  process.send?.({});
  process.once('disconnect', () => void workspace.close());
} else {
  for (const name of Object.keys(parsed.settings.accounts)) {
    await receiveLoad(workspace.database.pool, {
      account: await workspace.accounts.open(name),
      source,
      choices: {},
      options: { existing: 'skip', createCustomers: false, confirm: false },
      lane: 'batch',
      dryRun: false,
      spoolDir: path.join(dataDir, 'received'),
      signal: new AbortController().signal,
    });
  }
  await workspace.close();
  process.send?.({});
  process.disconnect?.();
}
