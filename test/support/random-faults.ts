/** Faults of a random service (random-service.ts). */
import type { ServerResponse } from 'node:http';
import type { Drawn } from './drawn-service.ts';
import type { Reply } from './http-server.ts';

/** `late`: applied a little after the connection broke. */
const FAULTS = ['reset before', 'reset after', '503 before', '502 after', 'cut after', 'late'] as const;
/** Less than the settle time. */
export const LATE_MS = 40;
const READ_FAULTS = ['reset before', '503 before'] as const;

export function reset(response: ServerResponse): undefined {
  response.socket?.destroy();
  return undefined;
}

/** The answer breaks off in its middle. */
export function cut(response: ServerResponse): undefined {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"status": "succ', () => response.socket?.destroy());
  return undefined;
}

type Fault = (typeof FAULTS)[number] | 'page before' | 'page after';

export function faultsOf({ habit }: Drawn, isRead: boolean): readonly Fault[] {
  if (habit === 'answers some calls with a web page') return ['page before', 'page after'];
  if (habit === 'resets connections') return ['reset before', 'reset after'];
  return isRead ? READ_FAULTS : FAULTS;
}

/** The page of a gateway, as a success. */
export function webPage(response: ServerResponse): undefined {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<!doctype html><html><body>One moment, please</body></html>');
  return undefined;
}

/** How far the clock of a service is off that has a wrong one. */
export const CLOCK_OFF_MS = 3_600_000;

/** The answer to a call beyond the limit. */
export function limitedBy({ habit, saysRetryAfter, words }: Drawn): Reply {
  const at = new Date(Date.now() + CLOCK_OFF_MS + 1_000).toUTCString();
  const after = habit === 'has a wrong clock' ? at : '1';
  const headers = { ...(saysRetryAfter && { 'retry-after': after }) };
  const body = { [words.status]: words.bad, [words.message]: 'Too many requests. Try again later.' };
  if (habit === 'limits with 503') return { status: 503, headers, body };
  if (habit === 'limits with 403') return { status: 403, headers, body };
  return habit === 'limits with an envelope' ? { body } : { status: 429, headers, body: '' };
}

/** The same call under the other prefix; the status keeps the method. */
export function otherPrefix({ prefix, seed }: Drawn, path: string): Reply {
  const location = path.replace(/^\/(?:api\/)?v1/, prefix);
  return { status: [301, 302, 307, 308][seed % 4] ?? 308, headers: { location } };
}
