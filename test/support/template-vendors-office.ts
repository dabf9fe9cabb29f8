/** Stand-ins of Azure DevOps, Freshdesk, Microsoft Planner and Smartsheet: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, reading, type System, set, stateOf } from './template-vendors.ts';
import { rule } from './vendor-standin.ts';

/** What a person sees of a text of HTML. */
export function shown(html: string): string {
  const characters = new Map([
    ['lt', '<'],
    ['gt', '>'],
    ['amp', '&'],
    ['#34', '"'],
    ['#39', "'"],
  ]);
  const text = html.replaceAll(/<br \/>\n?/g, '\n');
  return text.replaceAll(/&([a-z]+|#\d+);/g, (entity, name) => characters.get(name) ?? entity);
}

/** Each change makes another revision, and must name that of the item that it changes. */
const changes = new WeakMap<Item, number>();
const revOf = (item: Item) => changes.get(item) ?? 1;
const change = (item: Item) => changes.set(item, revOf(item) + 1);

const VERSION = ['api-version'];
const JSON_PATCH = { 'content-type': /^application\/json-patch\+json$/ };
type Operation = Readonly<Record<'op' | 'path' | 'value', string>>;
const workItem = (item: Item) => ({
  id: Number(item.id),
  rev: revOf(item),
  fields: {
    'System.State': item.isDone ? 'Done' : 'To Do',
    ...(item.marker !== '' && { 'System.Tags': `crm; ${item.marker}; sales` }),
  },
});
const workItemMissing = {
  status: 404,
  body: { message: 'TF401232: Work item 99 does not exist', typeKey: 'WorkItemUnauthorizedAccessException' },
};

export const AZURE_DEVOPS: System = {
  name: 'our-azure-devops',
  headers: { authorization: new RegExp(`^Basic ${TOKEN}$`) },
  missing: workItemMissing,
  idOf: (count) => String(count + 1),
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ path }) => path.endsWith('/$Task'),
  rules: (items) => [
    reading(items, /^\/_apis\/wit\/workitems\/(\d+)$/, workItemMissing, workItem, { query: [...VERSION, 'fields'] }),
    rule(
      'PATCH',
      /^\/_apis\/wit\/workitems\/(\d+)$/,
      ({ body }, [, id]) => {
        const item = items.at(id);
        const [test, { op, path, value }]: [object, Operation] = JSON.parse(body);
        if (item && JSON.stringify(test) !== JSON.stringify({ op: 'test', path: '/rev', value: revOf(item) }))
          return { status: 412, body: { message: 'TF26071: changed by someone else', typeKey: 'x' } };
        if (item) change(item);
        const isKnown = op === 'add' && path === '/fields/System.State';
        return set(item, isKnown ? stateOf(value, 'Done', 'To Do') : undefined, workItemMissing, {});
      },
      { headers: JSON_PATCH, query: VERSION },
    ),
    rule(
      'POST',
      /^\/Shop\/_apis\/wit\/wiql$/,
      ({ body }) => {
        const [, marker = null] = /\[System\.Tags\] Contains '([\w-]+)'$/.exec(JSON.parse(body).query) ?? [];
        // A query may also show a work item with a tag that only begins with the marker.
        const alike = items.with(`${marker}0`);
        return {
          body: { workItems: [...alike, ...items.with(marker)].map(({ id }) => ({ id: Number(id), url: 'x' })) },
        };
      },
      { query: VERSION, body: ['query'] },
    ),
    rule(
      'POST',
      /^\/Shop\/_apis\/wit\/workitems\/\$Task$/,
      ({ body }) => {
        const fields = new Map((JSON.parse(body) as Operation[]).map(({ path, value }) => [path, value]));
        const at = (name: string) => fields.get(`/fields/System.${name}`) ?? '';
        if (at('Title').length > 255) return { status: 400, body: { message: 'TF401324: invalid title' } };
        return {
          body: workItem(items.add({ title: at('Title'), text: shown(at('Description')), marker: at('Tags') })),
        };
      },
      { headers: JSON_PATCH, query: VERSION },
    ),
  ],
};

const ticket = ({ id, isDone, marker }: Item) => ({
  id: Number(id),
  status: isDone ? 5 : 2,
  tags: marker === '' ? [] : [marker],
});
/** Without a body. */
const ticketMissing = { status: 404 };

export const FRESHDESK: System = {
  name: 'our-freshdesk',
  headers: { authorization: new RegExp(`^Basic ${TOKEN}$`) },
  missing: ticketMissing,
  idOf: (count) => String(count + 1),
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/tickets\/(\d+)$/, ticketMissing, ticket, { query: [] }),
    rule(
      'PUT',
      /^\/tickets\/(\d+)$/,
      ({ body }, [, id]) => set(items.at(id), stateOf(JSON.parse(body).status, 5, 2), ticketMissing, {}),
      { body: ['status'] },
    ),
    rule(
      'GET',
      /^\/search\/tickets$/,
      ({ query }) => {
        const [, marker = null] = /^"tag:'([\w-]+)'"$/.exec(query.get('query') ?? '') ?? [];
        const results = items.with(marker).map(ticket);
        return marker === null ? { status: 400 } : { body: { total: results.length, results } };
      },
      { query: ['query'] },
    ),
    rule(
      'POST',
      /^\/tickets$/,
      ({ body }) => {
        const { subject, description, status, tags } = JSON.parse(body);
        if (subject.length > 255 || description === '' || status !== 2) return { status: 400 };
        return { status: 201, body: ticket(items.add({ title: subject, text: shown(description), marker: tags[0] })) };
      },
      { body: ['subject', 'description', 'email', 'status', 'priority', 'tags'] },
    ),
  ],
};

const etagOf = (item: Item) => `W/"JzEtVGFzayAgQEBAQEBAQEBAQEBAQEBAQEBAQ${revOf(item)}Jw=="`;
const plannerTask = (item: Item) => ({
  '@odata.etag': etagOf(item),
  id: item.id,
  title: `${item.title} ${item.marker}`,
  percentComplete: item.isDone ? 100 : 0,
});
const graphError = (status: number, message: string) => ({ status, body: { error: { code: '', message } } });
const plannerMissing = graphError(404, 'The requested item is not found.');
const PLAN = 'xqQg5FS2LkCp935s-FIFm2QAFkHM';

export const PLANNER: System = {
  name: 'our-planner',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: plannerMissing,
  idOf: (count) => `01gzSlKkIUSUl6DF_EilrmQAKD${10 + count}`,
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/planner\/tasks\/([\w-]+)$/, plannerMissing, plannerTask, { query: [] }),
    rule(
      'PATCH',
      /^\/planner\/tasks\/([\w-]+)$/,
      ({ body, headers }, [, id]) => {
        const item = items.at(id);
        if (item && headers['if-match'] !== etagOf(item)) return graphError(412, 'The resource has been modified.');
        if (item) change(item);
        return set(item, stateOf(JSON.parse(body).percentComplete, 100, 0), plannerMissing, undefined);
      },
      { headers: { 'if-match': /^W\/"/ }, body: ['percentComplete'] },
    ),
    rule(
      'GET',
      new RegExp(`^/planner/plans/${PLAN}/tasks$`),
      () => ({ body: { value: items.all().map(plannerTask) } }),
      { query: ['$skiptoken'] },
    ),
    rule(
      'POST',
      /^\/planner\/tasks$/,
      ({ body }) => {
        const { planId, title } = JSON.parse(body);
        if (planId !== PLAN || title.length > 255) return graphError(400, 'The request is invalid.');
        const [, before = '', marker = ''] = /^(.*) (lockstep-\w+)$/.exec(title) ?? [];
        return { status: 201, body: plannerTask(items.add({ title: before, text: '', marker })) };
      },
      { body: ['planId', 'title'] },
    ),
  ],
};

const SHEET = '4583173393803140';
const [TITLE, TEXT, DONE, MARKER] = [7960873110000001, 7960873110000002, 7960873110000003, 7960873110000004];
interface Cell {
  readonly columnId: number;
  readonly value?: string | boolean;
}

/** A person has moved the columns; a cell without a value has no value. */
const row = ({ id, isDone, title, text, marker }: Item) => ({
  id: Number(id),
  cells: [
    { columnId: MARKER, ...(marker !== '' && { value: marker }) },
    { columnId: DONE, ...(isDone && { value: true }) },
    { columnId: TITLE, value: title },
    { columnId: TEXT, value: text },
  ],
});
const rowMissing = { status: 404, body: { errorCode: 1006, message: 'Not Found', refId: '12' } };

export const SMARTSHEET: System = {
  name: 'our-smartsheet',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: rowMissing,
  idOf: (count) => String(7_960_873_110_001_000 + count),
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, new RegExp(`^/sheets/${SHEET}/rows/(\\d+)$`), rowMissing, row, { query: [] }),
    rule('PUT', new RegExp(`^/sheets/${SHEET}/rows$`), ({ body }) => {
      const [{ id, cells }] = JSON.parse(body) as [{ readonly id: number; readonly cells: readonly Cell[] }];
      const [{ columnId, value } = { columnId: 0 }] = cells;
      const isDone = columnId === DONE && typeof value === 'boolean' ? value : undefined;
      return set(items.at(String(id)), isDone, rowMissing, { message: 'SUCCESS', resultCode: 0, result: [] });
    }),
    rule(
      'GET',
      new RegExp(`^/sheets/${SHEET}$`),
      ({ query }) => {
        const shown = query.get('columnIds')?.split(',').map(Number) ?? [];
        const rows = items.all().map((item) => {
          const { id, cells } = row(item);
          return { id, cells: cells.filter(({ columnId }) => shown.includes(columnId)) };
        });
        return { body: { id: Number(SHEET), rows } };
      },
      { query: ['columnIds'] },
    ),
    rule('POST', new RegExp(`^/sheets/${SHEET}/rows$`), ({ body }) => {
      const [{ cells }] = JSON.parse(body) as [{ readonly cells: readonly Cell[] }];
      const at = (column: number | undefined) => String(cells.find(({ columnId }) => columnId === column)?.value);
      if (at(TITLE).length > 4000 || at(TEXT).length > 4000) return { status: 400 };
      const item = items.add({ title: at(TITLE), text: at(TEXT), marker: at(MARKER) });
      return { body: { message: 'SUCCESS', resultCode: 0, result: [row(item)] } };
    }),
  ],
};
