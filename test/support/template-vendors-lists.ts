/** Stand-ins of Airtable, Google Tasks, Redmine and Vikunja: see template-vendors.ts. */
import { TOKEN } from './item-vendor.ts';
import { type Item, reading, type System, set, stateOf } from './template-vendors.ts';
import { shown } from './template-vendors-office.ts';

const bearer = { authorization: new RegExp(`^Bearer ${TOKEN}$`) };
const number = (count: number) => String(count + 1);

const airtableRecord = ({ id, isDone, marker }: Item) => ({
  id,
  createdTime: '2026-03-01T09:00:00.000Z',
  fields: { ...(isDone && { Done: true }), ...(marker !== '' && { Lockstep: marker }) },
});
const airtableMissing = { status: 404, body: { error: 'NOT_FOUND' } };

export const AIRTABLE: System = {
  name: 'our-airtable',
  headers: bearer,
  missing: airtableMissing,
  idOf: (count) => `recA1b2C3d4E5f${100 + count}`,
  isWrite: ({ method, path }) => method === 'PATCH' && path !== '/',
  isCreation: ({ method, path }) => method === 'PATCH' && path === '/',
  rules: (items) => [
    reading(items, /^\/(rec\w+)$/, airtableMissing, airtableRecord, { query: [] }),
    {
      method: 'PATCH',
      path: /^\/(rec\w+)$/,
      body: ['fields'],
      answer: ({ body }, [, id]) => set(items.at(id), JSON.parse(body).fields.Done, airtableMissing, { id }),
    },
    {
      method: 'GET',
      path: /^\/$/,
      query: ['filterByFormula', 'maxRecords'],
      answer({ query }) {
        const [, marker = null] = /^\{Lockstep\} = "([\w-]+)"$/.exec(query.get('filterByFormula') ?? '') ?? [];
        return { body: { records: items.with(marker).map(airtableRecord) } };
      },
    },
    {
      method: 'PATCH',
      path: /^\/$/,
      body: ['performUpsert', 'records'],
      answer({ body }) {
        const { performUpsert, records } = JSON.parse(body);
        const [{ fields }] = records;
        if (String(performUpsert.fieldsToMergeOn) !== 'Lockstep' || records.length > 10) return { status: 422 };
        const [existing] = items.with(fields.Lockstep);
        const item = existing ?? items.add({ title: fields.Name, text: fields.Notes, marker: fields.Lockstep });
        return {
          body: { records: [airtableRecord(item)], [existing ? 'updatedRecords' : 'createdRecords']: [item.id] },
        };
      },
    },
  ],
};

const LIST = 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTA6MDow';
const googleTask = ({ id, isDone, title, text, marker }: Item) => ({
  kind: 'tasks#task',
  id,
  title,
  notes: `${text}\n\n${marker}`,
  status: isDone ? 'completed' : 'needsAction',
});
const googleError = (code: number, message: string) => ({ status: code, body: { error: { code, message } } });
const googleMissing = googleError(404, 'Task not found.');

/** It shows one task a page, and leaves an empty list out. */
export const GOOGLE_TASKS: System = {
  name: 'our-google-tasks',
  headers: bearer,
  missing: googleMissing,
  idOf: (count) => `dXNlckNvdW50${10 + count}`,
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, new RegExp(`^/lists/${LIST}/tasks/([\\w-]+)$`), googleMissing, googleTask, { query: [] }),
    {
      method: 'PATCH',
      path: new RegExp(`^/lists/${LIST}/tasks/([\\w-]+)$`),
      body: ['status'],
      answer({ body }, [, id]) {
        const item = items.at(id);
        return set(
          item,
          stateOf(JSON.parse(body).status, 'completed', 'needsAction'),
          googleMissing,
          item && googleTask(item),
        );
      },
    },
    {
      method: 'GET',
      path: new RegExp(`^/lists/${LIST}/tasks$`),
      query: ['showCompleted', 'showHidden', 'maxResults', 'pageToken'],
      answer({ query }) {
        const token = query.get('pageToken');
        if (token === '' || query.get('showHidden') !== 'true') return googleError(400, 'Invalid value');
        const at = token === null ? 0 : Number(token.slice(1));
        const all = items.all().map(googleTask);
        const isLast = at + 1 >= all.length;
        const page = { ...(all.length > 0 && { items: [all[at]] }), ...(!isLast && { nextPageToken: `C${at + 1}` }) };
        return { body: { kind: 'tasks#tasks', ...page } };
      },
    },
    {
      method: 'POST',
      path: new RegExp(`^/lists/${LIST}/tasks$`),
      body: ['title', 'notes'],
      answer({ body }) {
        const { title, notes } = JSON.parse(body);
        if (title.length > 1024 || notes.length > 8192) return googleError(400, 'Invalid Value');
        const [, text = '', marker = ''] = /^(.*)\n\n(lockstep-\w+)$/s.exec(notes) ?? [];
        return { body: googleTask(items.add({ title, text, marker })) };
      },
    },
  ],
};

const redmineIssue = ({ id, isDone, marker }: Item) => ({
  id: Number(id),
  status: isDone ? { id: 5, name: 'Closed' } : { id: 1, name: 'New' },
  custom_fields: [
    { id: 3, name: 'Severity', value: 'low' },
    { id: 12, name: 'Lockstep', value: marker },
  ],
});
/** Without a body. */
const redmineMissing = { status: 404 };

export const REDMINE: System = {
  name: 'our-redmine',
  headers: { 'x-redmine-api-key': new RegExp(`^${TOKEN}$`) },
  missing: redmineMissing,
  idOf: number,
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/issues\/(\d+)\.json$/, redmineMissing, (item) => ({ issue: redmineIssue(item) }), { query: [] }),
    {
      method: 'PUT',
      path: /^\/issues\/(\d+)\.json$/,
      body: ['issue'],
      answer: ({ body }, [, id]) =>
        set(items.at(id), stateOf(JSON.parse(body).issue.status_id, 5, 1), redmineMissing, undefined),
    },
    {
      method: 'GET',
      path: /^\/issues\.json$/,
      query: ['project_id', 'status_id', 'cf_12'],
      answer: ({ query }) =>
        query.get('status_id') === '*'
          ? { body: { issues: items.with(query.get('cf_12')).map(redmineIssue), total_count: 1 } }
          : { status: 400 },
    },
    {
      method: 'POST',
      path: /^\/issues\.json$/,
      body: ['issue'],
      answer({ body }) {
        const { subject, description, custom_fields } = JSON.parse(body).issue;
        if (subject.length > 255) return { status: 422, body: { errors: ['Subject is too long'] } };
        const [{ value: marker }] = custom_fields;
        return { status: 201, body: { issue: redmineIssue(items.add({ title: subject, text: description, marker })) } };
      },
    },
  ],
};

/** What people have set; a change that leaves it out empties it. */
const KEPT = { priority: 4, due_date: '2026-12-24T00:00:00Z', bucket_id: 9007199254740993n };
const vikunjaTask = ({ id, isDone, title, marker }: Item) =>
  JSON.stringify(
    { id: Number(id), title, description: `<p>x</p><p>${marker}</p>`, done: isDone, ...KEPT },
    (_, value) => (typeof value === 'bigint' ? `long ${value}` : value),
  ).replaceAll(/"long (\d+)"/g, '$1');
const vikunjaMissing = { status: 404, body: { code: 4002, message: 'This task does not exist' } };

export const VIKUNJA: System = {
  name: 'our-vikunja',
  headers: bearer,
  missing: vikunjaMissing,
  idOf: number,
  isWrite: ({ method }) => method === 'POST',
  isCreation: ({ method }) => method === 'PUT',
  rules: (items) => [
    reading(items, /^\/tasks\/(\d+)$/, vikunjaMissing, vikunjaTask, { query: [] }),
    {
      method: 'POST',
      path: /^\/tasks\/(\d+)$/,
      answer({ body }, [, id]) {
        const item = items.at(id);
        const { done } = JSON.parse(body);
        const isWhole = item && body === vikunjaTask({ ...item, isDone: done });
        return set(item, isWhole ? done : undefined, vikunjaMissing, { id: Number(id) });
      },
    },
    {
      method: 'GET',
      path: /^\/tasks$/,
      query: ['s'],
      answer: ({ query }) => ({ body: `[${items.with(query.get('s')).map(vikunjaTask)}]` }),
    },
    {
      method: 'PUT',
      path: /^\/projects\/3\/tasks$/,
      body: ['title', 'description'],
      answer({ body }) {
        const { title, description } = JSON.parse(body);
        const [, text = '', marker = ''] = /^<p>(.*)<\/p><p>(lockstep-\w+)<\/p>$/s.exec(description) ?? [];
        return { status: 201, body: vikunjaTask(items.add({ title, text: shown(text), marker })) };
      },
    },
  ],
};
