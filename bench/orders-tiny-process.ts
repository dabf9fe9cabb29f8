/**
 * A service that keeps only orders, in memory and in its own process, so that the load takes the time. Each key has the given
 * number of customers, with the ids 1 and up, and starts with the given number of orders. LATENCY_MS delays the answer to each
 * create. HOST: the address at which it listens.
 *   node orders-tiny-process.ts CUSTOMERS [LATENCY_MS] [ORDERS] [HOST]
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { orderAt } from './orders-sheet.ts';

export interface TinyAnswer {
  readonly url: string;
  /** The number of orders of all keys, and of distinct ones by key, customer and order_id. */
  readonly orders: number;
  readonly distinct: number;
  /** The most creates of one key that it answered at once. */
  readonly mostAtOnce: number;
  /** How often the list of orders was read. */
  readonly reads: number;
}

interface Account {
  orders: string[];
  atOnce: number;
}

const CREATED = Buffer.from('{"status":"success","content":null,"message":"OK"}');
const LISTED = 10_000;

const [howMany = 0, latencyMs = 0, existing = 0] = process.argv.slice(2, 5).map(Number);
const host = process.argv[5] ?? '127.0.0.1';
const ids = Array.from({ length: howMany }, (_, i) => i + 1);
const customers = ids.map((id) => `{"id":${id},"full_name":"No ${id}"}`);
const first = Array.from({ length: existing }, (_, i) => recordOf(i + 1, JSON.stringify(orderAt(i, ids))));
const accounts = new Map<string, Account>();
let mostAtOnce = 0;
let reads = 0;

function accountOf(key: unknown): Account {
  const known = accounts.get(String(key));
  if (known) return known;
  const account = { orders: [...first], atOnce: 0 };
  accounts.set(String(key), account);
  return account;
}

const server = createServer((request, response) => {
  const account = accountOf(request.headers.api_key);
  if (request.method === 'GET') {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://tiny');
    const isOrders = pathname.startsWith('/api/v1/orders/');
    const records = isOrders ? account.orders : customers;
    if (isOrders && pathname.endsWith('/getall')) reads++;
    if (pathname.endsWith('/getall')) void list(response, records);
    else get(response, records[Number(searchParams.get('id')) - 1]);
    return;
  }
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.on('end', () => {
    account.orders.push(recordOf(account.orders.length + 1, body));
    mostAtOnce = Math.max(mostAtOnce, ++account.atOnce);
    if (latencyMs === 0) created(account, response);
    else setTimeout(created, latencyMs, account, response);
  });
});

function recordOf(id: number, body: string): string {
  return `{"id":${id},${body.slice(1)}`;
}

function created(account: Account, response: ServerResponse): void {
  account.atOnce--;
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': CREATED.length });
  response.end(CREATED);
}

function get(response: ServerResponse, record: string | undefined): void {
  response.writeHead(record === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(record ?? '{"message":"not found"}');
}

async function list(response: ServerResponse, records: readonly string[]): Promise<void> {
  const length = records.length; // orders that arrive meanwhile are not included
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"status":"success","content":[');
  for (let at = 0; at < length; at += LISTED) {
    const part = records.slice(at, Math.min(at + LISTED, length)).join(',');
    if (!response.write(at === 0 ? part : `,${part}`)) await once(response, 'drain');
  }
  response.end('],"message":"OK"}');
}

function answer(): TinyAnswer {
  const nameOf = (order: string) => order.slice(order.indexOf(','), order.indexOf(',"description"'));
  const lists = [...accounts.values()].map(({ orders }) => orders);
  const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0);
  const { port } = server.address() as AddressInfo; // safe: it listens on TCP
  return {
    url: `http://${host}:${port}`,
    orders: sum(lists.map((orders) => orders.length)),
    distinct: sum(lists.map((orders) => new Set(orders.map(nameOf)).size)),
    mostAtOnce,
    reads,
  };
}

server.listen(0, host, () => process.send?.(answer()));
process.on('message', (ask) => {
  if (ask === 'empty') {
    accounts.clear();
    mostAtOnce = 0;
  }
  process.send?.(answer());
});
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
