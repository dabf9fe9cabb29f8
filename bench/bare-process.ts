/**
 * The baseline of a sync: a bare undici loop that makes the same calls with the same concurrency, and stores nothing.
 *   node bare-process.ts URL KEY CONTACTS IMPORTS CONCURRENCY ROWS_PER_PAGE
 */
import { Pool } from 'undici';

export interface BareFigures {
  readonly ms: number;
  readonly calls: number;
}

const [, , url = '', key = '', ...numbers] = process.argv;
const [contacts = 0, imports = 0, concurrency = 1, rowsPerPage = 1] = numbers.map(Number);
const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
const headers = { API_KEY: key, 'content-type': 'application/json' };
let calls = 0;

const startedAt = performance.now();
await call('GET', '/api/v1/customers/getall');
const ids: number[] = [];
await inParallel(Math.ceil(contacts / rowsPerPage), async (page) => {
  const body = await call('GET', `/api/v1/contacts/getall?page=${page}&rows_per_page=${rowsPerPage}`);
  for (const contact of (body as { content: { id: number }[] }).content) ids.push(contact.id);
});
await inParallel(imports, (i) => call('POST', '/api/v1/customers/import', { contact_id: ids[i] }));
await call('GET', '/api/v1/customers/getall');
const figures: BareFigures = { ms: performance.now() - startedAt, calls };
await pool.close();
process.send?.(figures);
process.disconnect?.();

async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
  calls++;
  const answer = await pool.request({
    method,
    path,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

async function inParallel(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}
