/**
 * One worker process for tests that kill it: takes up what is unfinished, else starts the sync, and ends with the run.
 *   node sync-program.ts CONNECTION_JSON DATA_DIR SETTINGS_YAML
 */
import type pg from 'pg';
import pino from 'pino';
import { openWorkspace } from '../../src/cli/wire.ts';
import { makePool } from '../../src/database/pool.ts';
import { readRun, runningRuns } from '../../src/ledger/runs.ts';
import { parseSettings } from '../../src/settings/parse.ts';

const [, , connectionJson = '', dataDir = '', text = ''] = process.argv;
const connection: pg.PoolConfig = JSON.parse(connectionJson);
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
const [unfinished] = await runningRuns(pool);
const run = unfinished ?? (await workspace.startSync('contacts', { lane: 'batch', dryRun: false })).run;
const runner = await workspace.work();
await runner.attend(run);
while ((await readRun(pool, run.id)).status === 'running') await new Promise((resolve) => setTimeout(resolve, 20));
await workspace.close();
