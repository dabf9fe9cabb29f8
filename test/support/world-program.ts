/** One worker of the tests that kill it: works on every unfinished run until it is killed. */
import { openProgram } from './open-program.ts';

const { workspace } = await openProgram();
await workspace.work();
