/** Records and lists as common frameworks write them, made from records in the contract's names. */
import type { ListedKind } from './drawn-service.ts';
import { PRODUCT_FORMS, type Product } from './product-forms.ts';

export const FRAMEWORKS = ['laravel', 'rails', 'django', 'dotnet', 'hal', 'relay', 'php'] as const;
/** Answers of databases that a service passes on. */
export const STORES = ['mongo', 'firestore', 'dynamo', 'keyed', 'elastic'] as const;
export type Framework = (typeof FRAMEWORKS)[number] | (typeof STORES)[number] | Product;

export type Members = Readonly<Record<string, unknown>>;

export interface Form {
  record(kind: ListedKind, record: Members): Record<string, unknown>;
  list(kind: ListedKind, records: readonly unknown[]): unknown;
}

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const pascal = (name: string) => camel(name).replace(/^./, (letter) => letter.toUpperCase());
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const kebab = (name: string) => snake(name).replaceAll('_', '-');
const one = (kind: ListedKind) => kind.slice(0, -1);

function renamed(members: Members, nameOf: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [nameOf(name), value]));
}

function typed(value: unknown): unknown {
  if (typeof value === 'boolean') return { booleanValue: value };
  if (typeof value === 'number')
    return Number.isInteger(value) ? { integerValue: String(value) } : { doubleValue: value };
  return value === null || value === undefined ? { nullValue: null } : { stringValue: value };
}

export const FORMS: Readonly<Record<Framework, Form>> = {
  ...PRODUCT_FORMS,
  /** An API resource: related records inside, money with its currency, paginator links. */
  laravel: {
    record(_, { client_id, order_id, amount, isCompleted, taskName, email, ...rest }) {
      return {
        ...renamed(rest, snake),
        ...(email !== undefined && { email_address: email }),
        ...(order_id !== undefined && { reference: order_id }),
        ...(client_id !== undefined && { customer: { id: client_id, display: 'A customer', created_at: null } }),
        ...(amount !== undefined && { amount: { amount: Number(amount).toFixed(2), currency: 'EUR' } }),
        ...(taskName !== undefined && { title: taskName }),
        ...(isCompleted !== undefined && {
          completed_at: Number(isCompleted) === 1 ? '2026-11-02T09:00:00+01:00' : null,
        }),
        deleted_at: null,
      };
    },
    list: (_, data) => ({
      data,
      links: { first: 'http://host/api?page=1', last: 'http://host/api?page=1', prev: null, next: null },
      meta: { current_page: 1, links: [{ url: null, label: '&laquo; Previous', active: false }], total: data.length },
    }),
  },
  /** JSON:API: ids are text, names have dashes, fields are in `attributes`, the customer in `relationships`. */
  rails: {
    record: (kind, { id, client_id, contact_id, ...attributes }) => ({
      type: kind,
      id: String(id),
      attributes: renamed(attributes, kebab),
      relationships: {
        ...(client_id !== undefined && { customer: { data: { type: 'customers', id: String(client_id) } } }),
        ...(contact_id !== undefined && { contact: { data: { type: 'contacts', id: String(contact_id) } } }),
      },
      links: { self: `http://host/${kind}/${id}` },
    }),
    list: (_, data) => ({ data, meta: { 'record-count': data.length }, jsonapi: { version: '1.0' } }),
  },
  /** Django REST: related records by their key, decimals as text. */
  django: {
    record: (kind, { client_id, amount, ...rest }) => ({
      url: `http://host/${kind}/${rest.id}/`,
      ...renamed(rest, snake),
      ...(client_id !== undefined && { customer: client_id, customer_name: 'A customer' }),
      ...(amount !== undefined && { amount: Number(amount).toFixed(2) }),
    }),
    list: (_, results) => ({ count: results.length, next: null, previous: null, results }),
  },
  /** ASP.NET: PascalCase, and null for what is not there. */
  dotnet: {
    record: (_, { client_id, ...rest }) => ({
      ...renamed(rest, pascal),
      ...(client_id !== undefined && { CustomerId: client_id, Customer: null }),
      RowVersion: 'AAAAAAAAB9E=',
    }),
    list: (_, Items) => ({ Items, TotalCount: Items.length, PageNumber: 1, HasNextPage: false }),
  },
  /** Spring HAL: the id and the customer are only in the links; an empty list is left out. */
  hal: {
    record: (kind, { id, client_id, isCompleted, taskName, ...rest }) => ({
      ...renamed(rest, camel),
      ...(taskName !== undefined && { subject: taskName }),
      ...(isCompleted !== undefined && { done: Number(isCompleted) === 1 ? 'Y' : 'N' }),
      _links: {
        self: { href: `http://host/${kind}/${id}` },
        ...(client_id !== undefined && { customer: { href: `http://host/customers/${client_id}{?projection}` } }),
      },
    }),
    list: (kind, records) => ({
      ...(records.length > 0 && { _embedded: { [`${one(kind)}ModelList`]: records } }),
      _links: { self: { href: `http://host/${kind}` } },
      page: { size: 100, totalElements: records.length, totalPages: Math.ceil(records.length / 100), number: 0 },
    }),
  },
  /** A gateway to GraphQL: each record is the node of an edge. */
  relay: {
    record: (kind, { client_id, ...rest }) => ({
      __typename: pascal(one(kind)),
      ...renamed(rest, camel),
      ...(client_id !== undefined && { client: { id: client_id } }),
    }),
    list: (kind, records) => ({
      data: {
        [kind]: {
          edges: records.map((node, n) => ({ cursor: `c${n}`, node })),
          pageInfo: { hasNextPage: false, endCursor: `c${records.length}` },
        },
      },
    }),
  },
  /** MongoDB's extended JSON. */
  mongo: {
    record: (_, { id, client_id, amount, ...rest }) => ({
      _id: { $oid: id },
      ...rest,
      ...(client_id !== undefined && { client_id: { $oid: client_id } }),
      ...(amount !== undefined && { amount: { $numberDecimal: String(amount) } }),
      __v: 0,
    }),
    list: (_, documents) => ({ documents }),
  },
  /** Firestore's REST API: each value says its type, and the id is the end of the document's name. */
  firestore: {
    record: (kind, { id, ...rest }) => ({
      name: `projects/p/databases/(default)/documents/${kind}/${id}`,
      fields: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, typed(value)])),
      createTime: '2026-11-02T09:00:00Z',
    }),
    list: (_, documents) => ({ documents }),
  },
  dynamo: {
    record: (_, members) =>
      Object.fromEntries(
        Object.entries(members).map(([name, value]) => {
          if (value === null || value === undefined) return [name, { NULL: true }];
          if (typeof value === 'boolean') return [name, { BOOL: value }];
          return [name, typeof value === 'number' ? { N: String(value) } : { S: value }];
        }),
      ),
    list: (_, Items) => ({ Items, Count: Items.length, ScannedCount: Items.length }),
  },
  /** A list as an object of records by their ids. */
  keyed: {
    record: (_, members) => ({ ...members }),
    list: (kind, records) => ({
      [kind]: Object.fromEntries(records.map((record) => [(record as Members).id, record])),
    }),
  },
  elastic: {
    record: (kind, { id, ...rest }) => ({ _index: kind, _id: id, _score: 1, _source: rest }),
    list: (_, hits) => ({
      took: 3,
      timed_out: false,
      hits: { total: { value: hits.length, relation: 'eq' }, max_score: 1, hits },
    }),
  },
  /** Plain PHP: a list that was filtered keeps the numbers of its elements as keys. */
  php: {
    record: (_, members) => ({ ...members }),
    list: (_, records) => ({
      success: true,
      data: records.length === 0 ? [] : Object.fromEntries(records.map((record, n) => [2 * n + 1, record])),
    }),
  },
};
