/** What programs begin with that tests run in a process of its own, to kill it: `node PROGRAM CONNECTION_JSON DATA_DIR SETTINGS_YAML`. */
import { makePool } from '../../src/database/pool.ts';
import { testWorkspace } from './test-workspace.ts';

/** The workspace its arguments name. Whoever ends by itself ends the pool too. */
export async function openProgram() {
  const [, , connectionJson = '', dataDir = '', text = ''] = process.argv;
  const connection = JSON.parse(connectionJson);
  const pool = makePool(connection);
  const database = { pool, connection };
  return { pool, workspace: await testWorkspace({ text, dataDir, database, env: process.env, isLogged: true }) };
}
