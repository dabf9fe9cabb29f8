/** One worker process for tests that kill it: starts the sync of tasks, and ends when its scan is over. */
import { readRun } from '../../../src/engine/ledger/runs.ts';
import { openProgram } from '../../support/open-program.ts';

const { workspace, pool } = await openProgram();
const { run } = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
await (await workspace.work()).attend(run);
while ((await readRun(pool, run.id)).phase === 'scan-tasks') await new Promise((resolve) => setTimeout(resolve, 20));
await workspace.close();
await pool.end();
