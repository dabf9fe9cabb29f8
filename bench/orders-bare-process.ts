/**
 * The baseline of a load: a bare undici loop that posts the same orders with the same concurrency, and stores nothing.
 *   node orders-bare-process.ts POSTING_JSON
 */
import { Pool } from 'undici';
import { type Numbers, orderAt } from './orders-sheet.ts';

export interface Posting {
  readonly url: string;
  readonly key: string;
  readonly customers: readonly number[];
  readonly numbers: Numbers;
  readonly concurrency: number;
}

export interface PostingFigures {
  readonly ms: number;
  readonly cpuMs: number;
}

const { url, key, customers, numbers, concurrency }: Posting = JSON.parse(process.argv[2] ?? '{}');
const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
const headers = { API_KEY: key, 'content-type': 'application/json' };
let next = numbers.from;

const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: concurrency }, post));
const { user, system } = process.cpuUsage(cpuBefore);
const figures: PostingFigures = { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
await pool.close();
process.send?.(figures);
process.disconnect?.();

async function post(): Promise<void> {
  while (next < numbers.to) {
    const body = JSON.stringify(orderAt(next++, customers));
    const answer = await pool.request({ method: 'POST', path: '/api/v1/orders/create', headers, body });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text.slice(0, 200)}`);
  }
}
