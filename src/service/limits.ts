/** Limits of connections: how long a request may take to arrive, and how many connections are allowed. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { codeOf } from '../base/errors.ts';
import type { Refused } from './result.ts';
import type { Dialect } from './testbed/dialect.ts';

/** Our choices: the contract names none (docs/contract.md, "Limits" 3). */
export interface ConnectionLimits {
  /** Time for the request line and the headers to arrive. */
  readonly headersMs: number;
  /** Time for the whole request, including its body, to arrive. */
  readonly requestMs: number;
  /** How often to check for late requests. */
  readonly checkEveryMs: number;
  /** Further connections are closed immediately. */
  readonly connections: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 1_000,
  connections: 1_000,
};

/** Sent with every answer, so that no browser treats it as a page or a script. */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/** Answers data that is not an HTTP request, or a request that did not arrive in time, and closes the connection. */
export function refuseConnection(dialect: Dialect, error: unknown, socket: Socket): void {
  if (socket.writable && codeOf(error) !== 'ECONNRESET') {
    const { httpStatus, headers, body } = dialect.refusal(refusedFor(codeOf(error)));
    const text = typeof body === 'string' ? body : ''; // only lists are sent in chunks
    const length = ['content-length', String(Buffer.byteLength(text))];
    const all = [...Object.entries(headers), length, NO_SNIFFING, ['connection', 'close']];
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${httpStatus} ${STATUS_CODES[httpStatus]}\r\n${lines.join('')}\r\n${text}`);
  }
  socket.destroySoon();
}

function refusedFor(code: string | undefined): Refused {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 'refused', httpStatus: 408, message: 'the request did not arrive in time' };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 'refused', httpStatus: 431, message: 'the headers are too large' };
    default:
      return { status: 'refused', httpStatus: 400, message: 'this is not a valid HTTP request' };
  }
}
