/**
 * One worker process for tests that kill it: applies what targets report until it is killed.
 *   node reporting-program.ts CONNECTION_JSON DATA_DIR SETTINGS_YAML
 */
import pino from 'pino';
import { openWorkspace } from '../../src/cli/wire.ts';
import { makePool } from '../../src/database/pool.ts';
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
await workspace.deliver(Object.keys(parsed.settings.targets));
