/** Stand-ins of Kanboard, which is called by JSON-RPC, and of Wrike, which takes forms: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, type System, set } from './template-vendors.ts';
import { shown } from './template-vendors-office.ts';
import { rule } from './vendor-standin.ts';

const answered = (result: unknown) => ({ body: { jsonrpc: '2.0', id: 1, result } });
const kanboardTask = ({ id, isDone, marker }: Item) => ({
  id: Number(id),
  is_active: isDone ? '0' : '1',
  reference: marker,
});
const nameOf = ({ body }: { readonly body: string }): string => JSON.parse(body).method;

export const KANBOARD: System = {
  name: 'our-kanboard',
  headers: { authorization: new RegExp(`^Basic ${TOKEN}$`) },
  missing: answered(null),
  idOf: (count) => String(count + 1),
  isWrite: (request) => ['closeTask', 'openTask'].includes(nameOf(request)),
  isCreation: (request) => nameOf(request) === 'createTask',
  rules: (items) => [
    rule('POST', /^\/$/, (request) => {
      const { params } = JSON.parse(request.body);
      const item = items.at(String(params.task_id));
      switch (nameOf(request)) {
        case 'getTask':
          return answered(item ? kanboardTask(item) : null);
        case 'closeTask':
        case 'openTask':
          return set(item, nameOf(request) === 'closeTask', answered(false), answered(true).body);
        case 'searchTasks':
          return answered(items.with(params.query.replace(/^ref:/, '')).map(kanboardTask));
        case 'createTask': {
          const { title, description: text, reference: marker } = params;
          return answered(Number(items.add({ title, text, marker }).id));
        }
        default:
          return { body: { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } } };
      }
    }),
  ],
};

const wrikeTasks = (tasks: readonly Item[]) => ({
  body: {
    kind: 'tasks',
    data: tasks.map(({ id, isDone, marker }) => ({
      id,
      status: isDone ? 'Completed' : 'Active',
      scope: 'WsTask',
      metadata: [{ key: 'lockstep', value: marker }],
    })),
  },
});
const wrikeMissing = { status: 404, body: { error: 'resource_not_found', errorDescription: 'Task not found' } };
const takesForm = { headers: { 'content-type': /^application\/x-www-form-urlencoded$/ } };

export const WRIKE: System = {
  name: 'our-wrike',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: wrikeMissing,
  idOf: (count) => `IEAAABCDKQAB5C${10 + count}`,
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    rule('GET', /^\/tasks\/(\w+)$/, (_, [, id]) => {
      const item = items.at(id);
      return item ? wrikeTasks([item]) : wrikeMissing;
    }),
    rule(
      'PUT',
      /^\/tasks\/(\w+)$/,
      ({ body }, [, id]) => {
        const states = new Map([
          ['status=Completed', true],
          ['status=Active', false],
        ]);
        return set(items.at(id), states.get(body), wrikeMissing, wrikeTasks([]).body);
      },
      takesForm,
    ),
    rule('GET', /^\/tasks$/, ({ query }) => wrikeTasks(items.with(JSON.parse(query.get('metadata') ?? '').value)), {
      query: ['metadata', 'fields'],
    }),
    rule(
      'POST',
      /^\/folders\/IEAAABCDI4AB5CDE\/tasks$/,
      ({ body }) => {
        const { title = '', description = '', metadata = '', ...rest } = Object.fromEntries(new URLSearchParams(body));
        if (Object.keys(rest).length > 0) return { status: 400, body: { error: 'invalid_parameter' } };
        const [{ value: marker }] = JSON.parse(metadata);
        return wrikeTasks([items.add({ title, text: shown(description), marker })]);
      },
      takesForm,
    ),
  ],
};
