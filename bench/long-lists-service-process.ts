/**
 * A service with one long list of each kind, generated on request: orders in pages of 1,000, customers in one
 * answer, tasks in pages of 1,000. Sends its address.
 *   node long-lists-service-process.ts RECORDS
 */
import { createServer, type ServerResponse } from 'node:http';

const PAGE = 1_000;
const records = Number(process.argv[2]);

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://loopback');
  response.writeHead(200, { 'content-type': 'application/json' });
  if (pathname.includes('customers')) await write(response, 0, records);
  else {
    const size = Math.min(PAGE, Number(searchParams.get('rows_per_page') ?? PAGE));
    const from = Number(searchParams.get('page') ?? 0) * size;
    await write(response, from, Math.min(records, from + size));
  }
});

async function write(response: ServerResponse, from: number, to: number): Promise<void> {
  response.write('[');
  for (let at = from; at < to; at += PAGE) {
    const rows = Array.from({ length: Math.min(PAGE, to - at) }, (_, i) => record(at + i + 1));
    const hasRoom = response.write(`${at === from ? '' : ','}${rows.join(',')}`);
    if (!hasRoom) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end(']');
}

function record(id: number): string {
  return `{"id":${id},"order_id":"A-${id}","client_id":${id % 5_000},"taskName":"Task ${id}","isCompleted":false,"amount":12.5}`;
}

server.listen(0, '127.0.0.1', () =>
  process.send?.({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}` }),
);
process.once('disconnect', () => process.exit());
