/** Stand-ins of Notion, Trello, Jira Data Center and OpenProject: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, reading, type System, set, stateOf } from './template-vendors.ts';
import { rule } from './vendor-standin.ts';

const notionPage = ({ id, isDone, marker }: Item) => ({
  object: 'page',
  id,
  properties: {
    Status: { type: 'status', status: { name: isDone ? 'Done' : 'Not started' } },
    Lockstep: { type: 'rich_text', rich_text: marker === '' ? [] : [{ type: 'text', plain_text: marker }] },
  },
});
const notionMissing = {
  status: 404,
  body: { object: 'error', status: 404, code: 'object_not_found', message: 'Could not find page' },
};

export const NOTION: System = {
  name: 'our-notion',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`), 'notion-version': /^2025-09-03$/ },
  missing: notionMissing,
  idOf: (count) => `59833787-2cf9-4fdf-8782-e53db20768${10 + count}`,
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ path }) => path === '/pages',
  rules: (items) => [
    reading(items, /^\/pages\/([\da-f-]+)$/, notionMissing, notionPage),
    rule(
      'PATCH',
      /^\/pages\/([\da-f-]+)$/,
      ({ body }, [, id]) =>
        set(
          items.at(id),
          stateOf(JSON.parse(body).properties.Status.status.name, 'Done', 'Not started'),
          notionMissing,
          { id },
        ),
      { body: ['properties'] },
    ),
    rule(
      'POST',
      /^\/data_sources\/1c7b35e6-e67f-8096-bf3f-000ba938459e\/query$/,
      ({ body }) => {
        const { property, rich_text } = JSON.parse(body).filter;
        return property === 'Lockstep'
          ? { body: { results: items.with(rich_text.equals).map(notionPage) } }
          : { status: 400 };
      },
      { body: ['filter', 'page_size'] },
    ),
    rule(
      'POST',
      /^\/pages$/,
      ({ body }) => {
        const { parent, properties, children } = JSON.parse(body);
        if (parent.type !== 'data_source_id') return { status: 400 };
        const text: string = children[0].paragraph.rich_text[0].text.content;
        if (text.length > 2000) return { status: 400 };
        const title = properties.Name.title[0].text.content;
        return { body: notionPage(items.add({ title, text, marker: properties.Lockstep.rich_text[0].text.content })) };
      },
      { body: ['parent', 'properties', 'children'] },
    ),
  ],
};

const trelloCard = ({ id, isDone, text, marker }: Item) => ({ id, dueComplete: isDone, desc: `${text}\n\n${marker}` });
const trelloMissing = { status: 404, body: 'The requested resource was not found.' };

export const TRELLO: System = {
  name: 'our-trello',
  headers: { authorization: new RegExp(`^OAuth ${TOKEN}$`) },
  missing: trelloMissing,
  idOf: (count) => `5f2b6c1e0f4e4f5c9d3a2f${10 + count}`,
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/cards\/(\w+)$/, trelloMissing, trelloCard, { query: ['fields'] }),
    rule(
      'PUT',
      /^\/cards\/(\w+)$/,
      ({ query }, [, id]) => set(items.at(id), query.get('dueComplete') === 'true', trelloMissing, { id }),
      { query: ['dueComplete'] },
    ),
    rule('GET', /^\/search$/, ({ query }) => ({ body: { cards: items.with(query.get('query')).map(trelloCard) } }), {
      query: ['query', 'modelTypes', 'card_fields', 'cards_limit'],
    }),
    rule(
      'POST',
      /^\/cards$/,
      ({ body }) => {
        const { name, desc } = JSON.parse(body);
        if (desc.length > 16_384) return { status: 400, body: 'invalid value for desc' };
        const [text = '', marker = ''] = desc.split('\n\n');
        return { body: trelloCard(items.add({ title: name, text, marker })) };
      },
      { body: ['idList', 'name', 'desc'] },
    ),
  ],
};

const jiraIssue = ({ id, isDone, marker }: Item) => ({
  key: id,
  fields: { status: { statusCategory: { key: isDone ? 'done' : 'new' } }, labels: marker === '' ? [] : [marker] },
});
const jiraMissing = { status: 404, body: { errorMessages: ['Issue Does Not Exist'], errors: {} } };

export const JIRA_DATA_CENTER: System = {
  name: 'our-jira-data-center',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: jiraMissing,
  idOf: (count) => `ABC-${count + 1}`,
  isWrite: ({ path }) => path.endsWith('/transitions'),
  isCreation: ({ path }) => path === '/issue',
  rules: (items) => [
    reading(items, /^\/issue\/([A-Z]+-\d+)$/, jiraMissing, jiraIssue, { query: ['fields'] }),
    rule(
      'POST',
      /^\/issue\/([A-Z]+-\d+)\/transitions$/,
      ({ body }, [, key]) =>
        set(items.at(key), stateOf(JSON.parse(body).transition.id, '31', '11'), jiraMissing, undefined),
      { body: ['transition'] },
    ),
    rule(
      'GET',
      /^\/search$/,
      ({ query }) => {
        const marker = /^project = "ABC" AND labels = "([\w-]+)"$/.exec(query.get('jql') ?? '')?.[1] ?? null;
        return { body: { issues: items.with(marker).map(jiraIssue) } };
      },
      { query: ['jql', 'fields', 'maxResults'] },
    ),
    rule(
      'POST',
      /^\/issue$/,
      ({ body }) => {
        const { summary, description, labels } = JSON.parse(body).fields;
        const { id } = items.add({ title: summary, text: description, marker: labels[0] });
        return { status: 201, body: { id: '10000', key: id, self: 'https://jira.example.com' } };
      },
      { body: ['fields'] },
    ),
  ],
};

/** Each change raises the version, and must name the version that it changes. */
const versions = new WeakMap<Item, number>();
const workPackage = (item: Item) => ({
  id: Number(item.id),
  lockVersion: versions.get(item) ?? 0,
  description: { format: 'markdown', raw: `${item.text}\n\n${item.marker}` },
  _links: { status: item.isDone ? { href: '/api/v3/statuses/12', title: 'Closed' } : { title: 'New' } },
});
const openProjectError = (status: number, name: string) => ({
  status,
  body: { _type: 'Error', errorIdentifier: `urn:openproject-org:api:v3:errors:${name}`, message: name },
});
const openProjectMissing = openProjectError(404, 'NotFound');

export const OPENPROJECT: System = {
  name: 'our-openproject',
  headers: { authorization: new RegExp(`^Basic ${TOKEN}$`) },
  missing: openProjectMissing,
  idOf: (count) => `${count + 1}`,
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/work_packages\/(\d+)$/, openProjectMissing, workPackage),
    rule(
      'PATCH',
      /^\/work_packages\/(\d+)$/,
      ({ body }, [, id]) => {
        const item = items.at(id);
        const { lockVersion, _links } = JSON.parse(body);
        if (item === undefined) return openProjectMissing;
        if (lockVersion !== (versions.get(item) ?? 0)) return openProjectError(409, 'UpdateConflict');
        versions.set(item, lockVersion + 1);
        return set(
          item,
          stateOf(_links.status.href, '/api/v3/statuses/12', '/api/v3/statuses/1'),
          openProjectMissing,
          workPackage(item),
        );
      },
      { body: ['lockVersion', '_links'] },
    ),
    rule(
      'GET',
      /^\/projects\/example\/work_packages$/,
      ({ query }) => {
        const [{ description }] = JSON.parse(query.get('filters') ?? '');
        if (description.operator !== '~') return openProjectError(400, 'InvalidQuery');
        return { body: { _embedded: { elements: items.with(description.values[0]).map(workPackage) } } };
      },
      { query: ['filters', 'pageSize'] },
    ),
    rule(
      'POST',
      /^\/projects\/example\/work_packages$/,
      ({ body }) => {
        const { subject, description } = JSON.parse(body);
        if (subject.length > 255) return openProjectError(422, 'PropertyConstraintViolation');
        const [text = '', marker = ''] = description.raw.split('\n\n');
        return { status: 201, body: workPackage(items.add({ title: subject, text, marker })) };
      },
      { body: ['subject', 'description', '_links'] },
    ),
  ],
};
