/** One worker process for tests that kill it: applies reports of targets until it is killed. */
import { openProgram } from '../../support/open-program.ts';

const { workspace } = await openProgram();
await workspace.deliver(Object.keys(workspace.settings.targets));
