/** The listener of every role of `lockstep start`: `/healthz`, `/readyz` and `/metrics`. */
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { codeOf, type LockstepError, messageOf, wrongUse } from '../../base/errors.ts';
import { serverUrl } from '../../base/server-url.ts';
import type { ListenAddress } from '../../settings/fields.ts';
import type { Metrics } from './metrics.ts';
import type { Check } from './readiness.ts';

export interface HealthServer {
  readonly url: string;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface HealthNeeds {
  readonly address: ListenAddress;
  readonly ready: () => Promise<readonly Check[]>;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly log: Logger;
}

const JSON_TYPE = 'application/json';

/** Throws LockstepError HEALTH_PORT_IN_USE or HEALTH_CANNOT_LISTEN. */
export async function serveHealth(needs: HealthNeeds): Promise<HealthServer> {
  const { host, port } = needs.address;
  const server = createServer(answer(needs));
  server.listen(port, host);
  await once(server, 'listening').catch((cause: unknown) => {
    throw cannotListen(needs.address, cause);
  });
  let closing: Promise<void> | undefined;
  return {
    url: serverUrl(server.address(), host),
    close() {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function answer({ ready, metrics, log }: HealthNeeds): RequestListener {
  return async ({ method, url = '' }, response) => {
    try {
      if (method !== 'GET' && method !== 'HEAD') return send(response, 405, JSON_TYPE, { status: 'only GET and HEAD' });
      switch (url.split('?')[0]) {
        case '/healthz':
          return send(response, 200, JSON_TYPE, { status: 'ok' });
        case '/readyz': {
          const checks = await ready();
          const isReady = checks.every(({ status }) => status === 'ok');
          return send(response, isReady ? 200 : 503, JSON_TYPE, { status: isReady ? 'ready' : 'not ready', checks });
        }
        case '/metrics':
          return send(response, 200, metrics.contentType, await metrics.text());
        default:
          return send(response, 404, JSON_TYPE, { status: 'unknown path: use /healthz, /readyz or /metrics' });
      }
    } catch (error) {
      log.warn({ err: error }, 'a health request could not be answered');
      send(response, 503, JSON_TYPE, { status: 'temporarily unavailable' });
    }
  };
}

function send(response: ServerResponse, httpStatus: number, type: string, body: string | object): void {
  response.writeHead(httpStatus, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function cannotListen({ host, port }: ListenAddress, cause: unknown): LockstepError {
  const where = `Health and metrics cannot be served on ${host}:${port}`;
  if (codeOf(cause) === 'EADDRINUSE') {
    const message = `${where}: the port is in use. Each process needs a port of its own: set health.listen, or start with --health HOST:PORT`;
    return wrongUse(message, 'HEALTH_PORT_IN_USE', cause);
  }
  const message = `${where}: ${messageOf(cause)}. Set health.listen, or --health, to another address`;
  return wrongUse(message, 'HEALTH_CANNOT_LISTEN', cause);
}
