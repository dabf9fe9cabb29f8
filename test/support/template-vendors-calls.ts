/** Stand-ins of Kanboard, which is called by JSON-RPC, of Wrike, which takes forms, of YouTrack, which takes commands, and of Basecamp, whose completions are resources: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, reading, type System, set, stateOf } from './template-vendors.ts';
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
    reading(items, /^\/tasks\/(\w+)$/, wrikeMissing, (item) => wrikeTasks([item]).body),
    rule(
      'PUT',
      /^\/tasks\/(\w+)$/,
      ({ body }, [, id]) =>
        set(items.at(id), stateOf(body, 'status=Completed', 'status=Active'), wrikeMissing, wrikeTasks([]).body),
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

const youtrackMissing = {
  status: 404,
  body: { error: 'Not Found', error_description: 'Entity with id SHOP-9 not found' },
};

export const YOUTRACK: System = {
  name: 'our-youtrack',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: youtrackMissing,
  idOf: (count) => `SHOP-${count + 1}`,
  isWrite: ({ path }) => path === '/commands',
  isCreation: ({ method, path }) => method === 'POST' && path === '/issues',
  rules: (items) => [
    reading(
      items,
      /^\/issues\/(SHOP-\d+)$/,
      youtrackMissing,
      ({ id, isDone }) => ({ idReadable: id, resolved: isDone ? 1_700_000_000_000 : null, $type: 'Issue' }),
      { query: ['fields'] },
    ),
    rule(
      'POST',
      /^\/commands$/,
      ({ body }) => {
        const { query, issues } = JSON.parse(body);
        return set(items.at(issues[0].idReadable), stateOf(query, 'State Done', 'State Open'), youtrackMissing, {
          $type: 'CommandList',
        });
      },
      { query: [], body: ['query', 'issues'] },
    ),
    rule(
      'GET',
      /^\/issues$/,
      ({ query }) => {
        const [, marker = null] = /^project: SHOP (lockstep-\w+)$/.exec(query.get('query') ?? '') ?? [];
        const shownOf = ({ id, text }: Item) => ({ idReadable: id, description: `${text}\n\n${marker}` });
        return { body: items.with(marker).map(shownOf) };
      },
      { query: ['query', 'fields', '$top'] },
    ),
    rule(
      'POST',
      /^\/issues$/,
      ({ body }) => {
        const { project, summary: title, description } = JSON.parse(body);
        if (project.id !== '0-1')
          return { status: 400, body: { error: 'Bad Request', error_description: 'no project' } };
        const [, text = '', marker = ''] = /^(.*)\n\n(lockstep-\w+)$/s.exec(description) ?? [];
        return { body: { idReadable: items.add({ title, text, marker }).id, $type: 'Issue' } };
      },
      { query: ['fields'], body: ['project', 'summary', 'description'] },
    ),
  ],
};

const basecampTodo = ({ id, isDone, title, text, marker }: Item) => ({
  id: Number(id),
  status: 'active',
  type: 'Todo',
  content: title,
  description: `<div>${text}<br><br>${marker}</div>`,
  completed: isDone,
});
const basecampMissing = { status: 404 };

export const BASECAMP: System = {
  name: 'our-basecamp',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`), 'user-agent': /@/ },
  missing: basecampMissing,
  idOf: (count) => String(1_069_479_574 + count),
  isWrite: ({ path }) => path.endsWith('/completion.json'),
  isCreation: ({ path }) => path === '/todolists/1069479573/todos.json',
  rules: (items) => [
    reading(items, /^\/todos\/(\d+)\.json$/, basecampMissing, basecampTodo),
    ...[true, false].map((isDone) =>
      rule(isDone ? 'POST' : 'DELETE', /^\/todos\/(\d+)\/completion\.json$/, (_, [, id]) =>
        set(items.at(id), isDone, basecampMissing, undefined),
      ),
    ),
    rule('GET', /^\/projects\/recordings\.json$/, () => ({ body: items.all().toReversed().map(basecampTodo) }), {
      query: ['type', 'bucket', 'sort', 'direction'],
    }),
    rule(
      'POST',
      /^\/todolists\/1069479573\/todos\.json$/,
      ({ body }) => {
        const { content: title, description } = JSON.parse(body);
        const [, text = '', marker = ''] = /^<div>(.*)<br><br>(lockstep-\w+)<\/div>$/s.exec(description) ?? [];
        return { status: 201, body: basecampTodo(items.add({ title, text: shown(text), marker })) };
      },
      { body: ['content', 'description'] },
    ),
  ],
};
