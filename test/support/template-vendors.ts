/**
 * Stand-ins of the systems in config/targets, as far as those examples use them, strict about paths, parameters and bodies. Their
 * documentation is named in the examples. More of them are in template-vendors-more.ts, template-vendors-office.ts,
 * template-vendors-lists.ts, template-vendors-calls.ts and template-vendors-crm.ts.
 */
import { tokenFrom } from '../../src/mirror/targets/calls/token-source.ts';
import { openHttp } from '../../src/mirror/targets/http/http.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import { documentedTarget } from './documented-targets.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import { type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { UNDOCUMENTED } from './vendor-contract.ts';
import { type Rule, rule, startVendor } from './vendor-standin.ts';

export interface Item {
  readonly id: string;
  isDone: boolean;
  readonly title: string;
  readonly text: string;
  readonly marker: string;
}

/** The items of a system, and its rules over them. */
export interface System {
  readonly name: string;
  readonly headers: Readonly<Record<string, RegExp>>;
  readonly missing: Reply;
  readonly idOf: (count: number) => string;
  readonly rules: (items: Items) => readonly Rule[];
  readonly isWrite: (request: SeenRequest) => boolean;
  readonly isCreation: (request: SeenRequest) => boolean;
}

interface Items {
  at(id: string | undefined): Item | undefined;
  add(given: Pick<Item, 'title' | 'text' | 'marker'> & { readonly isDone?: boolean }): Item;
  with(marker: string | null): readonly Item[];
  all(): readonly Item[];
}

/** The example, at this address and with a secret that needs no environment. */
export function exampleAt(name: string, { create = true } = {}): SettingsOf<'http'> {
  const target = documentedTarget('http', name);
  const headers = Object.entries(target.headers).map(([header, value]) => {
    if (typeof value === 'string') return [header, value];
    const scheme = value.scheme !== undefined && { scheme: value.scheme };
    return [header, { ...secretRef(TOKEN, value.where), ...scheme }];
  });
  const items = target.items && (create ? target.items : { ...target.items, create: undefined, find: undefined });
  return { ...target, headers: Object.fromEntries(headers), items };
}

export async function startSystem(system: System): Promise<ItemVendor & { readonly items: readonly Item[] }> {
  const all: Item[] = [];
  const items: Items = {
    at: (id) => all.find((item) => item.id === id),
    add(given) {
      const item = { isDone: false, ...given, id: system.idOf(all.length) };
      all.push(item);
      return item;
    },
    with: (marker) => all.filter((item) => item.marker === marker),
    all: () => all,
  };
  const vendor = await startVendor(
    UNDOCUMENTED,
    { accept: /^application\/json$/, ...system.headers },
    system.rules(items),
  );
  return {
    vendor,
    items: all,
    openTarget(needs, { create }) {
      const settings = exampleAt(system.name, { create });
      const { oauthClient } = settings;
      const tokens = oauthClient && tokenFrom(secretRef(TOKEN, oauthClient.secret.where), needs.readSecret);
      return openHttp(settings, { ...needs, ...(tokens && { tokens }) });
    },
    put: (isDone) => items.add({ title: 'Old', text: '', marker: '', isDone }).id,
    isCompleted: (id) => items.at(id)?.isDone === true,
    count: () => all.length,
    isWrite: system.isWrite,
    isCreation: system.isCreation,
    missing: system.missing,
    create: 'items.create of this target',
  };
}

/** The rule that shows an item by its id. */
export function reading(
  items: Items,
  path: RegExp,
  missing: Reply,
  bodyOf: (item: Item) => unknown,
  more?: Partial<Rule>,
): Rule {
  const answer: Rule['answer'] = (_, [, id]) => {
    const item = items.at(id);
    return item ? { body: bodyOf(item) } : missing;
  };
  return rule('GET', path, answer, more);
}

/** Whether a value is that of a completed item, or of an open one; undefined: of neither. */
export function stateOf(value: unknown, done: unknown, open: unknown): boolean | undefined {
  if (value === done) return true;
  return value === open ? false : undefined;
}

/** Sets the state of an item; undefined: the system has no such state. */
export function set(item: Item | undefined, isDone: boolean | undefined, missing: Reply, answer: unknown): Reply {
  if (item === undefined) return missing;
  if (isDone === undefined) return { status: 400, body: 'no such state' };
  item.isDone = isDone;
  return answer === undefined ? { status: 204 } : { body: answer };
}

const FIELD = '5f2b6c1e-0f4e-4f5c-9d3a-2f7f0f6c8a11';
const clickupTask = ({ id, isDone, marker }: Item) => ({
  id,
  status: isDone ? { status: 'complete', type: 'closed' } : { status: 'to do', type: 'open' },
  custom_fields: [{ id: FIELD, type: 'short_text', ...(marker !== '' && { value: marker }) }],
});
const clickupMissing = { status: 404, body: { err: 'Task not found', ECODE: 'ITEM_013' } };

export const CLICKUP: System = {
  name: 'our-clickup',
  headers: { authorization: new RegExp(`^${TOKEN}$`) },
  missing: clickupMissing,
  idOf: (count) => `86a1b2${count}`,
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/task\/(\w+)$/, clickupMissing, clickupTask),
    rule(
      'PUT',
      /^\/task\/(\w+)$/,
      ({ body }, [, id]) =>
        set(items.at(id), stateOf(JSON.parse(body).status, 'complete', 'to do'), clickupMissing, { id }),
      { body: ['status'] },
    ),
    rule(
      'GET',
      /^\/list\/901234567890\/task$/,
      ({ query }) => {
        const [filter] = JSON.parse(query.get('custom_fields') ?? '');
        if (filter.field_id !== FIELD || filter.operator !== '=' || query.get('include_closed') !== 'true')
          return { status: 400 };
        return { body: { tasks: items.with(filter.value).map(clickupTask), last_page: true } };
      },
      { query: ['include_closed', 'custom_fields'] },
    ),
    rule(
      'POST',
      /^\/list\/901234567890\/task$/,
      ({ body }) => {
        const { name, description, custom_fields } = JSON.parse(body);
        if (custom_fields[0].id !== FIELD) return { status: 400 };
        return { body: clickupTask(items.add({ title: name, text: description, marker: custom_fields[0].value })) };
      },
      { body: ['name', 'description', 'custom_fields'] },
    ),
  ],
};

const mondayItem = ({ id, isDone, marker }: Item) => ({
  id,
  status: [{ is_done: isDone }],
  marker: [{ text: marker }],
});

/** GraphQL: each operation is recognised by its root field, which must have these arguments. */
const MONDAY_CALLS: readonly [
  RegExp,
  (items: Items, variables: Readonly<Record<string, string>>, query: string) => unknown,
][] = [
  [
    /^query \(\$ids: \[ID!\]\) \{ items\(ids: \$ids, exclude_nonactive: true\) \{ id status: column_values\(ids: \["status"\]\) \{ \.\.\. on StatusValue \{ is_done \} \} \} \}$/,
    (items, { ids }) => ({ items: [items.at(ids?.[0])].flatMap((item) => (item ? [mondayItem(item)] : [])) }),
  ],
  [
    /^mutation \(\$item: ID!\) \{ change_simple_column_value\(board_id: 1234567890, item_id: \$item, column_id: "status", value: "(Done|Working on it)"\) \{ id \} \}$/,
    (items, { item: id }, query) => {
      const item = items.at(id);
      if (item) item.isDone = query.includes('"Done"');
      return item && { change_simple_column_value: { id } };
    },
  ],
  [
    /^query \(\$marker: String!\) \{ items_page_by_column_values\(board_id: 1234567890, limit: 2, columns: \[\{ column_id: "text_marker", column_values: \[\$marker\] \}\]\) \{ items \{ id status: .* \} marker: column_values\(ids: \["text_marker"\]\) \{ text \} \} \} \}$/,
    (items, { marker = '' }) => ({ items_page_by_column_values: { items: items.with(marker).map(mondayItem) } }),
  ],
  [
    /^mutation \(\$name: String!, \$values: JSON!\) \{ create_item\(board_id: 1234567890, item_name: \$name, column_values: \$values\) \{ id \} \}$/,
    (items, { name = '', values = '' }) => {
      const { id } = items.add({ title: name, text: '', marker: JSON.parse(values).text_marker });
      return { create_item: { id } };
    },
  ],
];

export const MONDAY: System = {
  name: 'our-monday',
  headers: { authorization: new RegExp(`^${TOKEN}$`), 'api-version': /^2026-10$/ },
  missing: { body: { data: { items: [] } } },
  idOf: (count) => String(9876543210 + count),
  isWrite: ({ body }) => body.includes('change_simple_column_value'),
  isCreation: ({ body }) => body.includes('create_item'),
  rules: (items) => [
    rule(
      'POST',
      /^\/v2$/,
      (request) => {
        const { query, variables } = JSON.parse(request.body);
        const call = MONDAY_CALLS.find(([pattern]) => pattern.test(query));
        const data = call?.[1](items, variables, query);
        if (data !== undefined) return { body: { data } };
        return { body: { data: [], errors: [{ message: 'Field not found', extensions: { code: 'undefinedField' } }] } };
      },
      { body: ['query', 'variables'] },
    ),
  ],
};

const gitlabIssue = ({ id, isDone, marker }: Item) => ({
  iid: Number(id),
  state: isDone ? 'closed' : 'opened',
  labels: marker === '' ? [] : [marker],
});
const gitlabMissing = { status: 404, body: { message: '404 Not found' } };

/** Runs the commands of a description, and shows its quotations as texts. */
export const GITLAB: System = {
  name: 'our-gitlab',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: gitlabMissing,
  idOf: (count) => String(count + 1),
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/projects\/1234\/issues\/(\d+)$/, gitlabMissing, gitlabIssue),
    rule(
      'PUT',
      /^\/projects\/1234\/issues\/(\d+)$/,
      ({ body }, [, id]) =>
        set(items.at(id), stateOf(JSON.parse(body).state_event, 'close', 'reopen'), gitlabMissing, {}),
      { body: ['state_event'] },
    ),
    rule(
      'GET',
      /^\/projects\/1234\/issues$/,
      ({ query }) => ({ body: items.with(query.get('labels')).map(gitlabIssue) }),
      { query: ['labels', 'scope', 'state'] },
    ),
    rule(
      'POST',
      /^\/projects\/1234\/issues$/,
      ({ body }) => {
        const { title, description, labels } = JSON.parse(body);
        const text = description.replaceAll(/^\/\w+.*\n?/gm, '').replaceAll(/^> ?/gm, '');
        const isDone = /^\/close\b/m.test(description);
        return { status: 201, body: gitlabIssue(items.add({ title, text, marker: labels, isDone })) };
      },
      { body: ['title', 'description', 'labels'] },
    ),
  ],
};
