/** Tasks and their completion flag, and subtasks: items inside a task. */
import { absent, invalid } from '../result.ts';
import { created, got, listed, updated } from './answers.ts';
import type { Choices, Handlers } from './handler.ts';

export const taskHandlers = ({ paging }: Choices) =>
  ({
    'tasks.create': ({ body, records }) =>
      created(records, 'task', { fields: { isCompleted: false, ...body }, naturalKey: body.taskName }),
    'tasks.update': ({ params, body, records }) =>
      updated(records, 'task', params.task_id, { fields: body, naturalKey: body.taskName }),
    'tasks.get': ({ query, records }) => got(records, 'task', query.id),
    'tasks.getall': ({ query, records }) => listed(records, 'task', paging.tasks(query)),
    'tasks.complete': ({ params, body, records }) =>
      updated(records, 'task', params.task_id, {
        operation: 'tasks.complete',
        fields: { isCompleted: body.isCompleted },
      }),
  }) satisfies Partial<Handlers>;

export const subtaskHandlers = {
  async 'subtasks.create'({ body, records }) {
    const { task_id, ...sent } = body;
    if (task_id === undefined) return invalid('task_id', 'a subtask requires an existing task');
    const fields = { isCompleted: false, ...sent };
    return created(records, 'subtask', { fields, link: task_id, naturalKey: body.item_name });
  },
  async 'subtasks.update'({ params, body, records }) {
    const { id, ...fields } = body;
    if (id === undefined)
      return invalid('id', 'the path has only the id of the task, so the body needs the id of the subtask');
    return updated(records, 'subtask', id, { fields, link: params.task_id, naturalKey: body.item_name });
  },
  async 'subtasks.getall'({ params, records }) {
    const task = await records.get('task', params.task_id);
    if (task === undefined) return absent('task', params.task_id);
    return { status: 'list', kind: 'subtask', items: records.subtasksOf(params.task_id) };
  },
} satisfies Partial<Handlers>;
