/**
 * A service that only enforces a limit, exact to the token, in its own process: a token bucket per key, 429 with Retry-After
 * beyond it, and an empty list otherwise. Over IPC it restarts with a new limit, or reports the traffic that arrived.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rateLimiter } from '../src/service/rate-limit.ts';
import { recordTraffic } from '../test/support/traffic.ts';

export interface Limit {
  readonly ratePerSecond: number;
  readonly burst: number;
}

export type LimitedAsk = { readonly limit: Limit } | { readonly traffic: true };

export interface LimitedAnswer {
  readonly url: string;
  readonly total: number;
  readonly limited: number;
  readonly worstSecond: number;
}

/** The name of the API key in a call; its values are the numbers of the keys. */
const API_KEY = 'api_key';
const EMPTY = Buffer.from('{"status":"success","content":[],"message":"OK"}');
const traffic = recordTraffic();
let admit = rateLimiter(undefined, false);

const server = createServer((request, response) => {
  const nowMs = performance.now();
  traffic.arrived(1, 'any', nowMs);
  const { allowed, headers } = admit(Number(request.headers[API_KEY]), nowMs);
  if (!allowed) traffic.wasLimited(1);
  response.writeHead(allowed ? 200 : 429, { 'content-type': 'application/json', ...headers });
  response.end(allowed ? EMPTY : undefined);
});
server.listen(0, '127.0.0.1', () => process.send?.(answer()));

process.on('message', (ask: LimitedAsk) => {
  if ('limit' in ask) {
    const { ratePerSecond, burst } = ask.limit;
    admit = rateLimiter({ requestsPerSecond: ratePerSecond, burst, retryAfter: 'seconds' }, false);
    traffic.reset();
  }
  process.send?.(answer());
});
process.once('disconnect', () => {
  server.close();
  server.closeAllConnections();
});

function answer(): LimitedAnswer {
  const { total, limited, worstSecond } = traffic.counts();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, total, limited, worstSecond }; // safe: it listens on TCP
}
