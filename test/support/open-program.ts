/** The start of programs that a test runs and kills: `node PROGRAM CONNECTION_JSON DATA_DIR SETTINGS_YAML`. */
import { makePool } from '../../src/storage/pool.ts';
import { testWorkspace } from './harness/test-workspace.ts';

/** Opens the workspace named by the program's arguments. A program that ends by itself must end the pool too. */
export async function openProgram() {
  const [, , connectionJson = '', dataDir = '', text = ''] = process.argv;
  const connection = JSON.parse(connectionJson);
  const pool = makePool(connection);
  const database = { pool, connection };
  return { pool, workspace: await testWorkspace({ text, dataDir, database, env: process.env, isLogged: true }) };
}
