/** Stand-ins of HubSpot, Salesforce, ServiceNow and Zendesk: see template-vendors.ts. */
import type { Reply } from './http-server.ts';
import { TOKEN } from './item-vendor.ts';
import { type Item, reading, type System, set, stateOf } from './template-vendors.ts';
import { shown } from './template-vendors-office.ts';
import { rule } from './vendor-standin.ts';

const hubspotError = (status: number, category: string, message: string): Reply => ({
  status,
  body: { status: 'error', message, correlationId: 'a43683b0', category },
});
const hubspotMissing = hubspotError(404, 'OBJECT_NOT_FOUND', 'resource not found');
const hubspotTask = ({ id, isDone, marker }: Item) => ({
  id,
  properties: { hs_task_status: isDone ? 'COMPLETED' : 'NOT_STARTED', lockstep: marker === '' ? null : marker },
  archived: false,
});

/** A task needs a due date: milliseconds, or a time in UTC. */
export const HUBSPOT: System = {
  name: 'our-hubspot',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: hubspotMissing,
  idOf: (count) => String(41_000_000_100 + count),
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method, path }) => method === 'POST' && path === '/',
  rules: (items) => [
    reading(items, /^\/(\d+)$/, hubspotMissing, hubspotTask, { query: ['properties'] }),
    rule(
      'PATCH',
      /^\/(\d+)$/,
      ({ body }, [, id]) =>
        set(
          items.at(id),
          stateOf(JSON.parse(body).properties.hs_task_status, 'COMPLETED', 'NOT_STARTED'),
          hubspotMissing,
          { id },
        ),
      { body: ['properties'] },
    ),
    rule(
      'POST',
      /^\/search$/,
      ({ body }) => {
        const [{ filters }] = JSON.parse(body).filterGroups;
        const [{ propertyName, operator, value }] = filters;
        if (propertyName !== 'lockstep' || operator !== 'EQ')
          return hubspotError(400, 'VALIDATION_ERROR', 'There was a problem with the request.');
        const results = items.with(value).map(hubspotTask);
        return { body: { total: results.length, results } };
      },
      { body: ['filterGroups', 'properties'] },
    ),
    rule(
      'POST',
      /^\/$/,
      ({ body }) => {
        const { hs_task_subject, hs_task_body, hs_task_status, hs_timestamp, lockstep } = JSON.parse(body).properties;
        if (
          !/^(\d{13}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)$/.test(hs_timestamp) ||
          hs_task_status !== 'NOT_STARTED'
        )
          return hubspotError(400, 'VALIDATION_ERROR', 'Property values were not valid');
        const item = items.add({ title: hs_task_subject, text: shown(hs_task_body), marker: lockstep });
        return { status: 201, body: hubspotTask(item) };
      },
      { body: ['properties'] },
    ),
  ],
};

const VERSION = '/sobjects/Task';
const salesforceError = (status: number, errorCode: string, message: string): Reply => ({
  status,
  body: [{ message, errorCode }],
});
const salesforceMissing = salesforceError(404, 'NOT_FOUND', 'The requested resource does not exist');
const salesforceTask = ({ id, isDone, marker }: Item) => ({
  attributes: { type: 'Task' },
  Id: id,
  IsClosed: isDone,
  Lockstep__c: marker === '' ? null : marker,
});

export const SALESFORCE: System = {
  name: 'our-salesforce',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: salesforceMissing,
  idOf: (count) => `00T5e000004${1000 + count}EAA`,
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, new RegExp(`^${VERSION}/(\\w+)$`), salesforceMissing, salesforceTask, { query: ['fields'] }),
    rule(
      'PATCH',
      new RegExp(`^${VERSION}/(\\w+)$`),
      ({ body }, [, id]) =>
        set(items.at(id), stateOf(JSON.parse(body).Status, 'Completed', 'Not Started'), salesforceMissing, undefined),
      { body: ['Status'] },
    ),
    rule(
      'GET',
      /^\/query$/,
      ({ query }) => {
        const [, marker] =
          /^SELECT Id, Lockstep__c FROM Task WHERE Lockstep__c = '([\w-]+)'$/.exec(query.get('q') ?? '') ?? [];
        if (marker === undefined) return salesforceError(400, 'MALFORMED_QUERY', 'unexpected token');
        const records = items.with(marker).map(salesforceTask);
        return { body: { totalSize: records.length, done: true, records } };
      },
      { query: ['q'] },
    ),
    rule(
      'POST',
      new RegExp(`^${VERSION}$`),
      ({ body }) => {
        const { Subject, Description, Status, Lockstep__c } = JSON.parse(body);
        if (Subject.length > 255 || Description.length > 32_000)
          return salesforceError(400, 'STRING_TOO_LONG', 'data value too large');
        if (Status !== 'Not Started') return salesforceError(400, 'INVALID_FIELD', 'Status');
        const { id } = items.add({ title: Subject, text: Description, marker: Lockstep__c });
        return { status: 201, body: { id, success: true, errors: [] } };
      },
      { body: ['Subject', 'Description', 'Status', 'Lockstep__c'] },
    ),
  ],
};

const servicenowMissing = {
  status: 404,
  body: {
    error: { message: 'No Record found', detail: "Record doesn't exist or ACL restricts the record retrieval" },
    status: 'failure',
  },
};
const servicenowTask = ({ id, isDone, marker }: Item) => ({
  sys_id: id,
  state: isDone ? '3' : '1',
  correlation_id: marker,
});
const SYS_ID = 0x1c741bd70b2322007518478d83673af3n;

/** A query ignores conditions that it does not know. */
export const SERVICENOW: System = {
  name: 'our-servicenow',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: servicenowMissing,
  idOf: (count) => (SYS_ID + BigInt(count)).toString(16),
  isWrite: ({ method }) => method === 'PATCH',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/task\/(\w+)$/, servicenowMissing, (item) => ({ result: servicenowTask(item) }), {
      query: ['sysparm_fields'],
    }),
    rule(
      'PATCH',
      /^\/task\/(\w+)$/,
      ({ body }, [, id]) =>
        set(items.at(id), stateOf(JSON.parse(body).state, '3', '1'), servicenowMissing, { result: { sys_id: id } }),
      { body: ['state'] },
    ),
    rule(
      'GET',
      /^\/task$/,
      ({ query }) => {
        const [, marker] = /^correlation_id=([\w-]+)$/.exec(query.get('sysparm_query') ?? '') ?? [];
        return { body: { result: (marker === undefined ? items.all() : items.with(marker)).map(servicenowTask) } };
      },
      { query: ['sysparm_query', 'sysparm_fields', 'sysparm_limit'] },
    ),
    rule(
      'POST',
      /^\/task$/,
      ({ body }) => {
        const { short_description, description, correlation_id } = JSON.parse(body);
        const item = items.add({ title: short_description, text: description, marker: correlation_id });
        return { status: 201, body: { result: servicenowTask(item) } };
      },
      { body: ['short_description', 'description', 'correlation_id'] },
    ),
  ],
};

const ticketMissing = { status: 404, body: { error: 'RecordNotFound', description: 'Not found' } };
const invalidTicket = (description: string): Reply => ({
  status: 422,
  body: {
    error: 'RecordInvalid',
    description: 'Record validation errors',
    details: { base: [{ description, error: 'BlankValue' }] },
  },
});
/** Each change gives a ticket another time, which a change must name. */
const changes = new WeakMap<Item, number>();
const changedAt = (item: Item) => new Date((changes.get(item) ?? 0) * 1000).toISOString().replace('.000Z', 'Z');
const ticket = (item: Item) => ({
  id: Number(item.id),
  status: item.isDone ? 'solved' : 'open',
  external_id: item.marker === '' ? null : item.marker,
  updated_at: changedAt(item),
});

export const ZENDESK: System = {
  name: 'our-zendesk',
  headers: { authorization: new RegExp(`^Bearer ${TOKEN}$`) },
  missing: ticketMissing,
  idOf: (count) => String(35_436 + count),
  isWrite: ({ method }) => method === 'PUT',
  isCreation: ({ method }) => method === 'POST',
  rules: (items) => [
    reading(items, /^\/tickets\/(\d+)\.json$/, ticketMissing, (item) => ({ ticket: ticket(item) }), { query: [] }),
    rule(
      'PUT',
      /^\/tickets\/(\d+)\.json$/,
      ({ body }, [, id]) => {
        const item = items.at(id);
        const { status, safe_update, updated_stamp } = JSON.parse(body).ticket;
        if (item && (safe_update !== true || updated_stamp !== changedAt(item)))
          return { status: 409, body: { error: 'UpdateConflict', description: 'Safe Update prevented the update' } };
        if (item) changes.set(item, (changes.get(item) ?? 0) + 1);
        return set(item, stateOf(status, 'solved', 'open'), ticketMissing, {});
      },
      { body: ['ticket'] },
    ),
    rule(
      'GET',
      /^\/tickets\.json$/,
      ({ query }) => {
        const tickets = items.with(query.get('external_id')).map(ticket);
        return { body: { tickets, next_page: null, previous_page: null, count: tickets.length } };
      },
      { query: ['external_id'] },
    ),
    rule(
      'POST',
      /^\/tickets\.json$/,
      ({ body }) => {
        const { subject, comment, external_id } = JSON.parse(body).ticket;
        if (comment.body === '') return invalidTicket('Description: cannot be blank');
        const item = items.add({ title: subject, text: comment.body, marker: external_id });
        return { status: 201, body: { ticket: ticket(item) } };
      },
      { body: ['ticket'] },
    ),
  ],
};
