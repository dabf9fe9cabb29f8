/** Records and lists as well-known products write them, made from records in the contract's names. */
import type { Form, Members } from './framework-forms.ts';

const MADE = '2026-11-02T09:00:00.000Z';

const isBlank = (value: unknown) => value === undefined || value === null || value === '';

/** The members by new names, with new values. */
function rewritten(
  members: Members,
  nameOf: (name: string) => string,
  valueFor: (value: unknown, name: string) => unknown = (value) => value,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [nameOf(name), valueFor(value, name)]));
}

const pascal = (name: string) => name.replace(/(^|_)(.)/g, (_, _before, letter: string) => letter.toUpperCase());
const capitals = (name: string) =>
  name.replace(/(^|_)(.)/g, (_, before, letter: string) => before + letter.toUpperCase());
const same = (name: string) => name;
const nullable = (value: unknown) => (isBlank(value) ? null : value);
const textual = (value: unknown) => (isBlank(value) ? null : String(value));
const isPhone = (name: string) => /^phone/.test(name);

/** Several e-mails or phones, of which one is marked. */
const labelled = (value: unknown) => [{ label: 'work', value: isBlank(value) ? '' : value, primary: true }];

export const PRODUCT_FORMS = {
  /** Blank fields are left out, and so are flags that are not set; a linked record is in a list. */
  airtable: {
    record: (_, { id, client_id, ...rest }) => ({
      id,
      createdTime: MADE,
      fields: {
        ...Object.fromEntries(Object.entries(rest).filter(([, value]) => !isBlank(value) && value !== false)),
        ...(client_id !== undefined && { client_id: [client_id] }),
      },
    }),
    list: (_, records) => ({ records }),
  },
  pipedrive: {
    record: (_, { client_id, ...rest }) => ({
      ...rewritten(rest, same, (value, name) => (name === 'email' || isPhone(name) ? labelled(value) : value)),
      ...(client_id !== undefined && { client_id: { name: 'A customer', value: client_id, owner_id: 4 } }),
    }),
    list: (_, records) => ({
      success: true,
      data: records.length > 0 ? records : null,
      additional_data: { pagination: { start: 0, limit: 100, more_items_in_collection: false } },
    }),
  },
  strapi: {
    record: (_, { id, client_id, ...rest }) => ({
      id,
      attributes: {
        ...rest,
        ...(client_id !== undefined && { client: { data: { id: client_id, attributes: { full_name: 'x' } } } }),
        publishedAt: null,
      },
    }),
    list: (_, data) => ({ data, meta: { pagination: { page: 1, pageSize: 100, pageCount: 1, total: data.length } } }),
  },
  /** OData 2, with decimals as text. */
  sap: {
    record: (kind, { id, ...rest }) => ({
      __metadata: { uri: `https://host/${kind}('${id}')`, type: `Z.${kind}` },
      ID: id,
      ...rewritten(rest, pascal, (value) => (typeof value === 'number' ? value.toFixed(2) : value)),
      Client: { __deferred: { uri: `https://host/${kind}('${id}')/Client` } },
    }),
    list: (_, results) => ({ d: { results, __count: String(results.length) } }),
  },
  graph: {
    record: (_, { full_name, email, phone_number, ...rest }) => ({
      '@odata.etag': 'W/"x"',
      ...rest,
      ...(full_name !== undefined && { displayName: full_name }),
      ...(email !== undefined && { emailAddresses: isBlank(email) ? [] : [{ name: full_name, address: email }] }),
      ...(phone_number !== undefined && { businessPhones: isBlank(phone_number) ? [] : [phone_number] }),
    }),
    list: (_, value) => ({ '@odata.context': 'https://host/$metadata#x', value }),
  },
  /** Capitals, all values as text, flags as Y and N. */
  bitrix: {
    record: (_, members) =>
      rewritten(
        members,
        (name) => name.toUpperCase(),
        (value, name) => {
          if (typeof value === 'boolean') return value ? 'Y' : 'N';
          if (name !== 'email' && !isPhone(name)) return textual(value);
          return isBlank(value) ? [] : [{ ID: '9', VALUE_TYPE: 'WORK', VALUE: value }];
        },
      ),
    list: (_, result) => ({ result, total: result.length, time: { start: 1, finish: 2 } }),
  },
  zoho: {
    record: (_, { id, client_id, ...rest }) => ({
      id,
      ...rewritten(rest, capitals, nullable),
      ...(client_id !== undefined && { Client: { name: 'A customer', id: client_id } }),
      $approved: true,
      Owner: { name: 'Me', id: '4150868000000225013', email: 'me@example.com' },
    }),
    list: (_, data) => ({ data, info: { per_page: 200, count: data.length, page: 1, more_records: false } }),
  },
  /** False in place of a blank, and the customer as a pair. */
  odoo: {
    record: (_, { client_id, ...rest }) => ({
      ...rewritten(rest, same, (value) => (isBlank(value) ? false : value)),
      ...(client_id !== undefined && { client_id: [client_id, 'A customer'] }),
    }),
    list: (_, result) => ({ jsonrpc: '2.0', id: null, result }),
  },
} as const satisfies Readonly<Record<string, Form>>;

export type Product = keyof typeof PRODUCT_FORMS;
export const PRODUCTS = Object.keys(PRODUCT_FORMS) as readonly Product[]; // safe: exactly its keys
