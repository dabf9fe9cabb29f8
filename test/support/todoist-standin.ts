/** Todoist's tasks, as far as the target uses them: developer.todoist.com/api/v1. A completed task is not answered by its id; all are completed now and, for tests with a clock of their own, at SEEN_AT. */
import { openTodoist } from '../../src/mirror/targets/todoist/todoist.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import {
  type DetailedVendor,
  HOOK_SECRET,
  NO_DETAILS,
  SEEN_AT,
  secretRef,
  TOKEN,
  USUAL,
  type VendorComment,
} from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { rule, startVendor } from './vendor-standin.ts';

export interface TodoistTask {
  readonly id: string;
  checked: boolean;
  readonly content: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly priority: number;
  readonly due_date?: string;
  readonly assignee_id?: string | null;
  due?: { readonly is_recurring: boolean; readonly string: string; readonly date: string };
  /** How often it was moved to its next date. */
  moves: number;
}

export interface TodoistVendor extends DetailedVendor {
  readonly tasks: TodoistTask[];
  /** The project. It takes tasks nevertheless. */
  isArchived: boolean;
}

export function todoistSettings(given: Partial<SettingsOf<'todoist'>> = {}): SettingsOf<'todoist'> {
  return {
    ...USUAL,
    type: 'todoist',
    url: 'https://api.todoist.com',
    token: secretRef(TOKEN),
    project: '6Jf8VQXxpwv56VQ7',
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 60, perMs: 60_000, burst: 1, concurrency: 4 },
    ...NO_DETAILS,
    ...given,
  };
}

export async function startTodoist(): Promise<TodoistVendor> {
  const tasks: TodoistTask[] = [];
  const comments: VendorComment[] = [];
  const done = new Set<string>();
  const missing = { status: 404, body: { error: 'Task not found', error_code: 478, http_code: 404 } };
  const add = (content: string, description: string, checked = false) => {
    const task: TodoistTask = {
      id: `6X7rM8997g3RQ${tasks.length + 100}`,
      content,
      description,
      checked,
      labels: [],
      priority: 1,
      moves: 0,
    };
    tasks.push(task);
    return task;
  };
  const taskAt = (id: string | undefined) => tasks.find((task) => task.id === id);
  const page = (all: readonly TodoistTask[], query: URLSearchParams) => {
    const [from, size] = [Number(query.get('cursor') ?? 0), Number(query.get('limit'))];
    return {
      found: all.slice(from, from + size).map(shown),
      next_cursor: from + size < all.length ? String(from + size) : null,
    };
  };
  /** Whether the request id was seen before: then the request is discarded. */
  const isRepeated = ({ headers }: SeenRequest) => {
    const requestId = headers['x-request-id'];
    if (typeof requestId !== 'string') return false;
    if (requestId.length > 36) throw new Error('a request id has at most 36 bytes');
    const isThere = done.has(requestId);
    done.add(requestId);
    return isThere;
  };
  const close = (task: TodoistTask) => {
    if (task.due?.is_recurring) task.moves++;
    else task.checked = true;
  };

  const vendor = await startVendor(
    openApiContract('todoist'),
    { authorization: new RegExp(`^Bearer ${TOKEN}$`), accept: /^application\/json$/ },
    [
      rule('GET', /^\/api\/v1\/tasks\/completed\/by_completion_date$/, ({ query }) => {
        const [since, until] = ['since', 'until'].map((key) => new Date(query.get(key) ?? Number.NaN));
        const isAsked = [SEEN_AT, new Date()].some((at) => since && until && since <= at && at <= until);
        const checked = tasks.filter((task) => task.checked && isAsked);
        const { found, next_cursor } = page(checked, query);
        return { body: { items: found, next_cursor } };
      }),
      rule('GET', /^\/api\/v1\/projects\/(\w+)$/, (_, [, id = '']) => ({
        body: shownProject(id, { is_archived: todoist.isArchived }),
      })),
      rule('GET', /^\/api\/v1\/tasks\/(\w+)$/, (_, [, id]) => {
        const task = taskAt(id);
        return task === undefined || task.checked ? missing : { body: shown(task) };
      }),
      rule('GET', /^\/api\/v1\/tasks$/, ({ query }) => {
        const active = tasks.filter((task) => !task.checked);
        const { found, next_cursor } = page(active, query);
        return { body: { results: found, next_cursor } };
      }),
      rule('POST', /^\/api\/v1\/tasks\/(\w+)\/(close|reopen)$/, (request, [, id, verb]): Reply => {
        const task = taskAt(id);
        if (task === undefined) return missing;
        if (isRepeated(request)) return { status: 204 };
        if (verb === 'close') close(task);
        else task.checked = false;
        return { status: 204 };
      }),
      rule(
        'POST',
        /^\/api\/v1\/tasks$/,
        (request) => {
          if (isRepeated(request)) return { status: 204 };
          const { content, description, project_id, ...fields } = JSON.parse(request.body);
          return { body: shown(Object.assign(add(content, description), fields)) };
        },
        { headers: { 'x-request-id': /^[\da-f]{32}$/ } },
      ),
      rule('POST', /^\/api\/v1\/tasks\/(\w+)$/, ({ body }, [, id]) => {
        const task = taskAt(id);
        if (task === undefined || task.checked) return missing;
        const { due_string, ...fields } = JSON.parse(body);
        return { body: shown(Object.assign(task, fields, due_string && { due_date: undefined })) };
      }),
      rule('GET', /^\/api\/v1\/comments$/, ({ query }) => {
        const results = comments.filter(({ itemId }) => itemId === query.get('task_id')).map(shownComment);
        return { body: { results, next_cursor: null } };
      }),
      rule(
        'POST',
        /^\/api\/v1\/comments$/,
        (request) => {
          if (isRepeated(request)) return { status: 204 };
          const { task_id, content } = JSON.parse(request.body);
          if (taskAt(task_id) === undefined) return missing;
          const comment = { id: String(comments.length + 1), itemId: task_id, text: content };
          comments.push(comment);
          return { body: shownComment(comment) };
        },
        { headers: { 'x-request-id': /^[\da-f]{32}$/ } },
      ),
    ],
  );
  const todoist: TodoistVendor = {
    vendor,
    tasks,
    isArchived: false,
    openTarget: (needs, given) => openTodoist(todoistSettings(given), needs),
    put: (isCompleted, labels = []) => Object.assign(add('Old', '', isCompleted), { labels }).id,
    isCompleted: (itemId) => taskAt(itemId)?.checked === true,
    count: () => tasks.length,
    isWrite: ({ path }) => /\/(close|reopen)$/.test(path),
    isCreation: ({ method, path }) => method === 'POST' && path === '/api/v1/tasks',
    field(itemId, name) {
      const { content, description, due_date, labels, priority, assignee_id } = taskAt(itemId) ?? {};
      const fields: Readonly<Record<string, unknown>> = {
        title: content,
        description,
        dueDate: due_date,
        labels,
        priority,
        assignee: assignee_id,
      };
      return fields[name];
    },
    comments,
    touch: () => undefined, // its list is in no order of changes
    isComment: ({ method, path }) => method === 'POST' && path === '/api/v1/comments',
    isUpdate: ({ method, path }) => method === 'POST' && /^\/api\/v1\/tasks\/\w+$/.test(path),
    missing,
  };
  return todoist;
}

/** A project as the API shows it: with all members that it always has. */
export function shownProject(id: string, given: object) {
  const time = '2026-02-01T12:00:00.000000Z';
  const flags = [
    'can_assign_tasks',
    'is_archived',
    'is_deleted',
    'is_favorite',
    'is_frozen',
    'is_collapsed',
    'is_shared',
  ];
  return {
    id,
    name: 'Shop',
    description: '',
    color: 'red',
    view_style: 'list',
    child_order: 1,
    default_order: 1,
    created_at: time,
    updated_at: time,
    ...Object.fromEntries(flags.map((flag) => [flag, false])),
    ...given,
  };
}

/** As the API shows a task: with all members that it always has. */
function shown({ id, content, description, checked, due, labels, priority }: TodoistTask) {
  const nothing = {
    section_id: null,
    parent_id: null,
    added_by_uid: null,
    assigned_by_uid: null,
    responsible_uid: null,
  };
  return {
    ...nothing,
    id,
    content,
    description,
    checked,
    due: due ?? null,
    user_id: '2671355',
    project_id: '6Jf8VQXxpwv56VQ7',
    labels,
    deadline: null,
    duration: null,
    is_deleted: false,
    added_at: '2026-02-01T12:00:00.000000Z',
    completed_at: checked ? '2026-02-28T12:00:00.000000Z' : null,
    updated_at: '2026-02-28T12:00:00.000000Z',
    priority,
    child_order: 1,
    day_order: -1,
    is_collapsed: false,
  };
}

function shownComment({ id, itemId, text }: VendorComment) {
  return {
    id,
    item_id: itemId,
    content: text,
    posted_at: '2026-02-01T12:00:00.000000Z',
    file_attachment: null,
    posted_uid: '2671355',
    uids_to_notify: null,
    reactions: null,
    is_deleted: false,
  };
}
