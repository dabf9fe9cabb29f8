/** Subtasks: items inside a task. */
import { absent, invalid } from '../result.ts';
import type { Handlers } from './handler.ts';
import { wrote } from './written.ts';

type Name = 'subtasks.create' | 'subtasks.update' | 'subtasks.getall';

export function subtaskHandlers(): Pick<Handlers, Name> {
  return {
    async 'subtasks.create'({ body, records }) {
      const { task_id, ...sent } = body;
      if (task_id === undefined) return invalid('task_id', 'a subtask requires an existing task');
      const fields = { isCompleted: false, ...sent };
      const write = { operation: 'subtasks.create', fields, link: task_id, naturalKey: body.item_name };
      return wrote(records, 'subtask', await records.create('subtask', write), task_id);
    },
    async 'subtasks.update'({ params, body, records }) {
      const { id, ...fields } = body;
      if (id === undefined) return invalid('id', 'the path names the task only, so the body has to name the subtask');
      const write = { operation: 'subtasks.update', fields, link: params.task_id, naturalKey: body.item_name };
      return wrote(records, 'subtask', await records.update('subtask', id, write));
    },
    async 'subtasks.getall'({ params, records }) {
      const task = await records.get('task', params.task_id);
      if (task === undefined) return absent('task', params.task_id);
      return { status: 'list', kind: 'subtask', items: records.subtasksOf(params.task_id) };
    },
  };
}
