/**
 * One worker that mirrors tasks on a schedule, as `lockstep start` does, until it is disconnected. Reports when it is ready.
 *   node mirror-process.ts DATA_DIR SETTINGS_YAML
 */
import pino from 'pino';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { listRuns } from '../test/support/newest-runs.ts';

const [, , dataDir = '', text = ''] = process.argv;
const parsed = parseSettings({ text, file: 'bench.yaml', env: {} });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const log = pino({ level: 'warn' }, pino.destination(2));
const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env: process.env, log });
process.once('disconnect', () => void workspace.close());
await workspace.keepSchedules();
workspace.startDueSyncs();
await workspace.work();
await workspace.deliver(Object.keys(parsed.settings.targets));
const looking = setInterval(async () => {
  const hasBaseline = (await listRuns(workspace.database.pool, 10)).some(({ run }) => run.status === 'done');
  if (!hasBaseline || !process.connected) return;
  clearInterval(looking);
  process.send?.({});
}, 100);
