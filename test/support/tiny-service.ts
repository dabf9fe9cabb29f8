/**
 * A small service in memory for what the embedded one would never do: refuse one contact, lose what it has
 * acknowledged, change what it is given. An update replaces the whole customer. Every request is kept.
 */
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from './http-server.ts';

export type TinyRecord = Record<string, unknown> & { readonly id: number };

export interface TinyService extends TestServer {
  readonly contacts: TinyRecord[];
  readonly customers: TinyRecord[];
  /** Restarts with these records and options; returns itself. */
  begin(options?: TinyOptions): TinyService;
  /** Adds a customer with the next id, and returns it. */
  add(fields: Record<string, unknown>): TinyRecord;
  /** The bodies of the requests since `begin` whose path ends so. */
  sent(path: string): readonly Record<string, unknown>[];
}

export interface TinyOptions {
  readonly contacts?: readonly Record<string, unknown>[];
  readonly customers?: readonly Record<string, unknown>[];
  /** Replaces the creation of a customer: returns the answer, or undefined for the usual one. */
  readonly onImport?: (contact: TinyRecord, service: TinyService) => Reply | undefined;
  readonly onUpdate?: (fields: Record<string, unknown>) => Reply | undefined;
  /** Pages the list of customers, which is documented as whole: at most so many per page; the first page has this number. */
  readonly customerPages?: { readonly size: number; readonly first: 0 | 1; readonly sized: boolean };
  /** Whether customers can be read by their ids. */
  readonly hasGets?: boolean;
  /** Instead of a list. */
  readonly onList?: (path: string, page: number, query?: URLSearchParams) => Reply | undefined;
}

const DONE: Reply = { body: '' };

export async function startTinyService(): Promise<TinyService> {
  const contacts: TinyRecord[] = [];
  const customers: TinyRecord[] = [];
  let options: TinyOptions = {};
  let lastId = 0;
  let requestsBefore = 0;

  function answer({ path, query, body }: SeenRequest): Reply {
    const sent: Record<string, unknown> = body === '' ? {} : JSON.parse(body);
    switch (path.replace('/api/v1', '')) {
      case '/contacts/getall': {
        const [page, size] = [Number(query.get('page')), Number(query.get('rows_per_page'))];
        return options.onList?.(path, page) ?? listed(contacts.slice(page * size, (page + 1) * size));
      }
      case '/customers/getall':
        return options.onList?.(path, 0, query) ?? listed(pageOfCustomers(query));
      case '/customers/get': {
        const found = options.hasGets ? customers.find(({ id }) => String(id) === query.get('id')) : undefined;
        return found ? { body: { status: 'success', content: found, message: 'OK' } } : { status: 404 };
      }
      case '/customers/import': {
        const contact = contacts.find(({ id }) => id === sent.contact_id);
        if (!contact) return { status: 404, body: { status: 'error', message: 'no such contact' } };
        const instead = options.onImport?.(contact, service);
        if (!instead) service.add(imported(contact));
        return instead ?? DONE;
      }
      case '/customers/create':
        service.add(sent);
        return DONE;
      case '/customers/update': {
        const instead = options.onUpdate?.(sent);
        const at = customers.findIndex(({ id }) => id === sent.id);
        if (!instead && at >= 0) customers[at] = { ...sent, id: customers[at]?.id ?? 0 };
        return instead ?? DONE;
      }
      default:
        return { status: 404 };
    }
  }

  function pageOfCustomers(query: URLSearchParams): readonly TinyRecord[] {
    if (!options.customerPages) return customers;
    const { size, first, sized } = options.customerPages;
    const rows = sized ? Math.min(Number(query.get('rows_per_page') ?? size), size) : size;
    const page = Math.max(0, Number(query.get('page') ?? first) - first);
    return customers.slice(page * rows, (page + 1) * rows);
  }

  const server = await startHttpServer(answer);
  const service: TinyService = {
    ...server,
    contacts,
    customers,
    begin(how = {}) {
      options = how;
      contacts.splice(0, contacts.length, ...numbered(how.contacts ?? []));
      customers.splice(0, customers.length, ...numbered(how.customers ?? []));
      lastId = customers.length;
      requestsBefore = server.requests.length;
      return service;
    },
    add(fields) {
      const customer = { ...fields, id: ++lastId };
      customers.push(customer);
      return customer;
    },
    sent: (path) =>
      server.requests
        .slice(requestsBefore)
        .filter((seen) => seen.path.endsWith(path))
        .map((seen) => JSON.parse(seen.body)),
  };
  return service;
}

/** A contact as our own service imports it, without saying which contact it was. */
export function imported({ first_name, last_name, email, phone, organization }: TinyRecord): Record<string, unknown> {
  const full_name = [first_name, last_name].filter((part) => part).join(' ');
  return { full_name, email, phone_number: phone, organization };
}

function numbered(records: readonly Record<string, unknown>[]): TinyRecord[] {
  return records.map((record, i) => ({ ...record, id: i + 1 }));
}

function listed(records: readonly TinyRecord[]): Reply {
  return { body: { status: 'success', content: records, message: 'OK' } };
}
