/** Tasks and their completion flag. */
import { found } from '../result.ts';
import type { Choices, Handlers } from './handler.ts';
import { listed, wrote } from './written.ts';

type Name = 'tasks.create' | 'tasks.update' | 'tasks.get' | 'tasks.getall' | 'tasks.complete';

export function taskHandlers({ paging }: Choices): Pick<Handlers, Name> {
  return {
    async 'tasks.create'({ body, records }) {
      const fields = { isCompleted: false, ...body };
      const write = { operation: 'tasks.create', fields, naturalKey: body.taskName };
      return wrote(records, 'task', await records.create('task', write));
    },
    async 'tasks.update'({ params, body, records }) {
      const write = { operation: 'tasks.update', fields: body, naturalKey: body.taskName };
      return wrote(records, 'task', await records.update('task', params.task_id, write));
    },
    async 'tasks.get'({ query, records }) {
      return found('task', query.id, await records.get('task', query.id));
    },
    'tasks.getall': ({ query, records }) => listed(records, 'task', paging.tasks(query)),
    async 'tasks.complete'({ params, body, records }) {
      const write = { operation: 'tasks.complete', fields: { isCompleted: body.isCompleted } };
      return wrote(records, 'task', await records.update('task', params.task_id, write));
    },
  };
}
