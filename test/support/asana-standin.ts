/** Asana's tasks, as far as the target uses them: developers.asana.com/reference/tasks. */
import { openAsana } from '../../src/mirror/targets/asana/asana.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import { type DetailedVendor, NO_DETAILS, secretRef, TOKEN, USUAL, type VendorComment } from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { type Rule, rule, startVendor } from './vendor-standin.ts';

export interface AsanaTask {
  readonly gid: string;
  completed: boolean;
  resource_subtype?: 'approval';
  approval_status?: string;
  readonly name: string;
  readonly notes: string;
  readonly due_on?: string | null;
  readonly assignee?: string | null;
  readonly tags?: readonly string[];
  readonly custom_fields?: Readonly<Record<string, unknown>>;
}

export interface AsanaVendor extends DetailedVendor {
  readonly tasks: AsanaTask[];
}

const TAGS = ['new', 'mirror', 'urgent'];
const SIZE_FIELD = {
  gid: 'size',
  name: 'Size',
  resource_subtype: 'enum',
  enum_options: ['Small', 'Large'].map((name) => ({ gid: `option-${name}`, name, enabled: true })),
};

/** The tags of the workspace, and the fields of the project. */
export const ASANA_LISTS: readonly Rule[] = [
  rule('GET', /^\/workspaces\/77\/tags$/, () => ({
    body: { data: TAGS.map((name) => ({ gid: `tag-${name}`, name })), next_page: null },
  })),
  rule('GET', /^\/projects\/555\/custom_field_settings$/, () => ({
    body: { data: [{ gid: '9', custom_field: SIZE_FIELD }], next_page: null },
  })),
];

export function asanaSettings(given: Partial<SettingsOf<'asana'>> = {}): SettingsOf<'asana'> {
  return {
    ...USUAL,
    type: 'asana',
    url: 'https://app.asana.com/api/1.0',
    token: secretRef(TOKEN),
    project: '555',
    budget: { requests: 2, perMs: 1000, burst: 2, concurrency: 4 },
    ...NO_DETAILS,
    ...given,
  };
}

export async function startAsana(): Promise<AsanaVendor> {
  const tasks: AsanaTask[] = [];
  const comments: VendorComment[] = [];
  const missing = { status: 404, body: { errors: [{ message: 'task: Unknown object' }] } };
  const add = (name: string, notes: string, completed = false) => {
    const task: AsanaTask = { gid: String(1200 + tasks.length), name, notes, completed };
    tasks.push(task);
    return task;
  };
  const taskAt = (gid: string | undefined) => tasks.find((task) => task.gid === gid);
  const list = (query: URLSearchParams) => {
    const [from, size] = [Number(query.get('offset') ?? 0), Number(query.get('limit'))];
    const all = query.has('completed_since') ? tasks.filter(({ completed }) => !completed) : tasks;
    const next = from + size < all.length ? { offset: String(from + size) } : null;
    return { body: { data: all.slice(from, from + size).map(shown), next_page: next } };
  };

  const vendor = await startVendor(
    openApiContract('asana'),
    { authorization: new RegExp(`^Bearer ${TOKEN}$`), accept: /^application\/json$/ },
    [
      rule('GET', /^\/tasks\/(\d+)$/, (_, [, gid]) =>
        taskAt(gid) === undefined ? missing : { body: { data: shown(taskAt(gid)) } },
      ),
      rule('PUT', /^\/tasks\/(\d+)$/, ({ body }, [, gid]) => {
        const task = taskAt(gid);
        const { custom_fields, ...fields } = JSON.parse(body).data;
        if (task !== undefined) {
          Object.assign(task, { ...fields, custom_fields: { ...task.custom_fields, ...custom_fields } });
          if (task.resource_subtype === 'approval') keepInSync(task, fields);
        }
        return task === undefined ? missing : { body: { data: shown(task) } };
      }),
      rule('GET', /^\/tasks$/, ({ query }) => list(query)),
      rule('POST', /^\/tasks$/, ({ body }) => {
        const { name, notes, projects, ...fields } = JSON.parse(body).data;
        if (projects[0] !== '555') return { status: 400, body: { errors: [{ message: 'projects: ?' }] } };
        return { status: 201, body: { data: shown(Object.assign(add(name, notes), fields)) } };
      }),
      rule('POST', /^\/tasks\/(\d+)\/(addTag|removeTag)$/, ({ body }, [, gid, action]) => {
        const task = taskAt(gid);
        if (task === undefined) return missing;
        const { tag } = JSON.parse(body).data;
        const others = task.tags?.filter((each) => each !== tag) ?? [];
        Object.assign(task, { tags: action === 'addTag' ? [...others, tag] : others });
        return { body: { data: {} } };
      }),
      rule('GET', /^\/projects\/555$/, () => ({ body: { data: { gid: '555', workspace: { gid: '77' } } } })),
      ...ASANA_LISTS,
      rule('GET', /^\/tasks\/(\d+)\/stories$/, (_, [, gid]) => ({
        body: { data: comments.filter(({ itemId }) => itemId === gid).map(story), next_page: null },
      })),
      rule('POST', /^\/tasks\/(\d+)\/stories$/, ({ body }, [, itemId = '']) => {
        if (taskAt(itemId) === undefined) return missing;
        const comment = { id: String(comments.length + 1), itemId, text: JSON.parse(body).data.text };
        comments.push(comment);
        return { status: 201, body: { data: story(comment) } };
      }),
    ],
  );
  return {
    vendor,
    tasks,
    openTarget: (needs, given) => openAsana(asanaSettings(given), needs),
    put: (isCompleted, labels = []) =>
      Object.assign(add('Old', '', isCompleted), { tags: labels.map((name) => `tag-${name}`) }).gid,
    isCompleted: (itemId) => taskAt(itemId)?.completed === true,
    count: () => tasks.length,
    isWrite: ({ method, body }) => method === 'PUT' && 'completed' in JSON.parse(body).data,
    isCreation: ({ method, path }) => method === 'POST' && path === '/tasks',
    field(itemId, name) {
      const { name: title, notes, due_on, assignee, tags, custom_fields } = taskAt(itemId) ?? {};
      const fields: Readonly<Record<string, unknown>> = {
        title,
        description: notes,
        dueDate: due_on,
        assignee,
        labels: tags,
        custom: custom_fields?.size,
      };
      return fields[name];
    },
    comments,
    touch: () => undefined, // its list is in no order of changes
    isComment: ({ method, path }) => method === 'POST' && path.endsWith('/stories'),
    isUpdate: ({ method, path, body }) =>
      path.endsWith('Tag') || (method === 'PUT' && !('completed' in JSON.parse(body).data)),
    missing,
  };
}

/** "This field is kept in sync with completed … If you set completed to true, this field will be set to approved." */
function keepInSync(
  task: AsanaTask,
  { completed, approval_status = completed ? 'approved' : 'pending' }: Partial<AsanaTask>,
) {
  Object.assign(task, { approval_status, completed: approval_status !== 'pending' });
}

/** The members that the target reads, without people and fields of the project. */
function shown(task: AsanaTask | undefined) {
  const { assignee, custom_fields, tags = [], ...rest } = task ?? {};
  const named = tags.map((gid) => ({ gid, name: gid.replace('tag-', '') }));
  return { ...rest, tags: named, created_at: '2026-02-01T12:00:00.000Z' };
}

function story({ id, text }: VendorComment) {
  return { gid: id, resource_type: 'story', resource_subtype: 'comment_added', text };
}
