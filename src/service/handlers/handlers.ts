/** One handler for each operation of the contract. */
import { contactHandlers } from './contacts.ts';
import { customerHandlers } from './customers.ts';
import type { Choices, Handlers } from './handler.ts';
import { orderHandlers } from './orders.ts';
import { pipelineHandlers } from './pipelines.ts';
import { subtaskHandlers, taskHandlers } from './tasks.ts';

export function handlersFor(choices: Choices): Handlers {
  return {
    ...contactHandlers(choices),
    ...customerHandlers(choices),
    ...orderHandlers,
    ...taskHandlers(choices),
    ...subtaskHandlers,
    ...pipelineHandlers,
  };
}
