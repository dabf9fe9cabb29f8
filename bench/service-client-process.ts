/**
 * Calls the service as fast as it answers, with the given number of calls at a time over kept connections; reports its figures.
 *   node service-client-process.ts LOAD_JSON
 */
import { Pool } from 'undici';
import { orderAt } from './orders-sheet.ts';
import { quantile } from './processes.ts';

export interface ServiceLoad {
  readonly url: string;
  readonly key: string;
  readonly call: 'orders' | 'contacts' | 'gets' | 'pages' | 'searches';
  readonly concurrency: number;
  readonly forMs: number;
  /** Ids that orders and gets use, words that searches use; called in turn. */
  readonly ids?: readonly number[];
  readonly words?: readonly string[];
}

export interface ServiceFigures {
  readonly calls: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

const load: ServiceLoad = JSON.parse(process.argv[2] ?? '{}');
const { url, key, concurrency, forMs, ids = [], words = [] } = load;
const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
const headers = { API_KEY: key, 'content-type': 'application/json' };
const tookMs: number[] = [];
let next = 0;

await call(); // opens the first connection, and the service learns the key
const startedAt = performance.now();
await Promise.all(Array.from({ length: concurrency }, lane));
const ms = performance.now() - startedAt;
const figures: ServiceFigures = {
  calls: tookMs.length,
  perSecond: (tookMs.length / ms) * 1_000,
  p50Ms: quantile(tookMs, 0.5),
  p95Ms: quantile(tookMs, 0.95),
};
await pool.close();
process.send?.(figures);
process.disconnect?.();

async function lane(): Promise<void> {
  while (performance.now() - startedAt < forMs) {
    const calledAt = performance.now();
    await call();
    tookMs.push(performance.now() - calledAt);
  }
}

async function call(): Promise<void> {
  const { path, body } = requestAt(next++);
  const answer = await pool.request({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/${path}`,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
}

function requestAt(n: number): { readonly path: string; readonly body?: object } {
  switch (load.call) {
    case 'orders':
      return { path: 'orders/create', body: orderAt(n, ids) };
    case 'contacts':
      return { path: 'contacts/create', body: contactAt(n) };
    case 'gets':
      return { path: `contacts/get?contact_id=${ids[n % ids.length]}` };
    case 'pages':
      return { path: `contacts/getall?page=${n % Math.floor(ids.length / 100)}&rows_per_page=100` };
    case 'searches':
      return { path: `contacts/search?search_term=${encodeURIComponent(words[n % words.length] ?? '')}` };
    default:
      return load.call satisfies never;
  }
}

function contactAt(n: number): object {
  return {
    first_name: `Nora${n % 100}`,
    last_name: `Berg${n % 997}`,
    email: `nora.berg.${n}@example.org`,
    phone: `+49 30 ${1_000_000 + n}`,
    organization: `Berg & Sons ${n % 50}`,
    category: 'lead',
    by_email: true,
  };
}
