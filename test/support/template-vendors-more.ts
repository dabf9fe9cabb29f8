/** Stand-ins of Notion, Trello, Jira Data Center and OpenProject: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, type System, set } from './template-vendors.ts';

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
    {
      method: 'GET',
      path: /^\/pages\/([\da-f-]+)$/,
      answer(_, [, id]) {
        const item = items.at(id);
        return item ? { body: notionPage(item) } : notionMissing;
      },
    },
    {
      method: 'PATCH',
      path: /^\/pages\/([\da-f-]+)$/,
      body: ['properties'],
      answer({ body }, [, id]) {
        const states = new Map([
          ['Done', true],
          ['Not started', false],
        ]);
        return set(items.at(id), states.get(JSON.parse(body).properties.Status.status.name), notionMissing, { id });
      },
    },
    {
      method: 'POST',
      path: /^\/data_sources\/1c7b35e6-e67f-8096-bf3f-000ba938459e\/query$/,
      body: ['filter', 'page_size'],
      answer({ body }) {
        const { property, rich_text } = JSON.parse(body).filter;
        return property === 'Lockstep'
          ? { body: { results: items.with(rich_text.equals).map(notionPage) } }
          : { status: 400 };
      },
    },
    {
      method: 'POST',
      path: /^\/pages$/,
      body: ['parent', 'properties', 'children'],
      answer({ body }) {
        const { parent, properties, children } = JSON.parse(body);
        if (parent.type !== 'data_source_id') return { status: 400 };
        const text: string = children[0].paragraph.rich_text[0].text.content;
        if (text.length > 2000) return { status: 400 };
        const title = properties.Name.title[0].text.content;
        return { body: notionPage(items.add({ title, text, marker: properties.Lockstep.rich_text[0].text.content })) };
      },
    },
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
    {
      method: 'GET',
      path: /^\/cards\/(\w+)$/,
      query: ['fields'],
      answer(_, [, id]) {
        const item = items.at(id);
        return item ? { body: trelloCard(item) } : trelloMissing;
      },
    },
    {
      method: 'PUT',
      path: /^\/cards\/(\w+)$/,
      query: ['dueComplete'],
      answer: ({ query }, [, id]) => set(items.at(id), query.get('dueComplete') === 'true', trelloMissing, { id }),
    },
    {
      method: 'GET',
      path: /^\/search$/,
      query: ['query', 'modelTypes', 'card_fields', 'cards_limit'],
      answer: ({ query }) => ({ body: { cards: items.with(query.get('query')).map(trelloCard) } }),
    },
    {
      method: 'POST',
      path: /^\/cards$/,
      body: ['idList', 'name', 'desc'],
      answer({ body }) {
        const { name, desc } = JSON.parse(body);
        if (desc.length > 16_384) return { status: 400, body: 'invalid value for desc' };
        const [text = '', marker = ''] = desc.split('\n\n');
        return { body: trelloCard(items.add({ title: name, text, marker })) };
      },
    },
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
    {
      method: 'GET',
      path: /^\/issue\/([A-Z]+-\d+)$/,
      query: ['fields'],
      answer(_, [, key]) {
        const item = items.at(key);
        return item ? { body: jiraIssue(item) } : jiraMissing;
      },
    },
    {
      method: 'POST',
      path: /^\/issue\/([A-Z]+-\d+)\/transitions$/,
      body: ['transition'],
      answer({ body }, [, key]) {
        const states = new Map([
          ['31', true],
          ['11', false],
        ]);
        return set(items.at(key), states.get(JSON.parse(body).transition.id), jiraMissing, undefined);
      },
    },
    {
      method: 'GET',
      path: /^\/search$/,
      query: ['jql', 'fields', 'maxResults'],
      answer({ query }) {
        const marker = /^project = "ABC" AND labels = "([\w-]+)"$/.exec(query.get('jql') ?? '')?.[1] ?? null;
        return { body: { issues: items.with(marker).map(jiraIssue) } };
      },
    },
    {
      method: 'POST',
      path: /^\/issue$/,
      body: ['fields'],
      answer({ body }) {
        const { summary, description, labels } = JSON.parse(body).fields;
        const { id } = items.add({ title: summary, text: description, marker: labels[0] });
        return { status: 201, body: { id: '10000', key: id, self: 'https://jira.example.com' } };
      },
    },
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
    {
      method: 'GET',
      path: /^\/work_packages\/(\d+)$/,
      answer(_, [, id]) {
        const item = items.at(id);
        return item ? { body: workPackage(item) } : openProjectMissing;
      },
    },
    {
      method: 'PATCH',
      path: /^\/work_packages\/(\d+)$/,
      body: ['lockVersion', '_links'],
      answer({ body }, [, id]) {
        const item = items.at(id);
        const { lockVersion, _links } = JSON.parse(body);
        if (item === undefined) return openProjectMissing;
        if (lockVersion !== (versions.get(item) ?? 0)) return openProjectError(409, 'UpdateConflict');
        versions.set(item, lockVersion + 1);
        const states = new Map([
          ['/api/v3/statuses/12', true],
          ['/api/v3/statuses/1', false],
        ]);
        return set(item, states.get(_links.status.href), openProjectMissing, workPackage(item));
      },
    },
    {
      method: 'GET',
      path: /^\/projects\/example\/work_packages$/,
      query: ['filters', 'pageSize'],
      answer({ query }) {
        const [{ description }] = JSON.parse(query.get('filters') ?? '');
        if (description.operator !== '~') return openProjectError(400, 'InvalidQuery');
        return { body: { _embedded: { elements: items.with(description.values[0]).map(workPackage) } } };
      },
    },
    {
      method: 'POST',
      path: /^\/projects\/example\/work_packages$/,
      body: ['subject', 'description', '_links'],
      answer({ body }) {
        const { subject, description } = JSON.parse(body);
        if (subject.length > 255) return openProjectError(422, 'PropertyConstraintViolation');
        const [text = '', marker = ''] = description.raw.split('\n\n');
        return { status: 201, body: workPackage(items.add({ title: subject, text, marker })) };
      },
    },
  ],
};
