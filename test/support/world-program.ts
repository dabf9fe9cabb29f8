/** One worker of the tests that kill it: works on every unfinished run until it is killed, or until the test is gone. */
import { openProgram } from './open-program.ts';

const { workspace } = await openProgram();
await workspace.work();

process.stdin.once('close', () => process.exit()).resume();
