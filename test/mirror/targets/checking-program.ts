/** One process that checks the target `desk` and prints what it finds, for tests that kill it. */
import { openProgram } from '../../support/open-program.ts';

const { workspace, pool } = await openProgram();
const target = await workspace.openTarget('desk');
const findings = await target.check?.({ signal: new AbortController().signal });
process.stdout.write(JSON.stringify(findings));
await target.close();
await workspace.close();
await pool.end();
