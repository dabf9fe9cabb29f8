/**
 * One worker process for tests that kill it: starts the sync of tasks, and ends when its scan is over.
 *   node scan-program.ts CONNECTION_JSON DATA_DIR SETTINGS_YAML
 */
import pino from 'pino';
import { openWorkspace } from '../../src/cli/wire.ts';
import { makePool } from '../../src/database/pool.ts';
import { readRun } from '../../src/ledger/runs.ts';
import { parseSettings } from '../../src/settings/parse.ts';

const [, , connectionJson = '', dataDir = '', text = ''] = process.argv;
const connection = JSON.parse(connectionJson);
const parsed = parseSettings({ text, file: 'test.yaml', env: {} });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const pool = makePool(connection);
const workspace = await openWorkspace({
  settings: parsed.settings,
  dataDir,
  env: process.env,
  log: pino({ level: 'warn' }, pino.destination(2)),
  database: { pool, connection, describe: 'the test database', close: () => pool.end() },
});
const { run } = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
await (await workspace.work()).attend(run);
while ((await readRun(pool, run.id)).phase === 'scan-tasks') await new Promise((resolve) => setTimeout(resolve, 20));
await workspace.close();
