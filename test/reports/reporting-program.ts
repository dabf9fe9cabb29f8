/** One worker process for tests that kill it: applies what targets report until it is killed. */
import { openProgram } from '../support/open-program.ts';

const { workspace } = await openProgram();
await workspace.deliver(Object.keys(workspace.settings.targets));
