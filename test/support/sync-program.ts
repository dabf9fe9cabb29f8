/** One worker process for tests that kill it: resumes what is unfinished, or starts the sync, and ends with the run. */
import { readRun, runningRuns } from '../../src/engine/ledger/runs.ts';
import { openProgram } from './open-program.ts';

const { workspace, pool } = await openProgram();
const [unfinished] = await runningRuns(pool);
const run = unfinished ?? (await workspace.startSync('contacts', { lane: 'batch', dryRun: false })).run;
const runner = await workspace.work();
await runner.attend(run);
while ((await readRun(pool, run.id)).status === 'running') await new Promise((resolve) => setTimeout(resolve, 20));
await workspace.close();
await pool.end();
