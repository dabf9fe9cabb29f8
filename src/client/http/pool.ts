/**
 * The connections to one origin. An aborted call resets its connection: after an orderly close, the service might still
 * process the request, and the unsent rest would follow.
 */
import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';

export interface PoolOptions {
  /** For a whole call, including connecting. */
  readonly timeoutMs: number;
  /** Maximum connections. Default: no limit. */
  readonly connections?: number;
  /** Default: the system's. */
  readonly lookup?: LookupFunction;
}

const MAX_CONNECT_MS = 10_000;
/**
 * Below the 5 s after which Node's own servers close an idle connection: a request written to a closing connection has
 * an unknown outcome.
 */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MAX_MS = 60_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** undici's message for a request that its caller aborted. */
const GIVEN_UP = 'aborted';

export function openPool(origin: string, { timeoutMs, connections, lookup }: PoolOptions): Pool {
  return new Pool(origin, {
    ...(connections !== undefined && { connections }),
    pipelining: 1,
    connect: resettingConnector({
      timeout: Math.min(timeoutMs, MAX_CONNECT_MS),
      ...(lookup !== undefined && { lookup }),
    }),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    // The exchange has its own exact deadline; undici's timeouts are coarse and restart with each part of an answer.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Connects and, for https, wraps the connection in TLS: only the TCP socket below can be reset. */
function resettingConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) => {
    const port = target.port || (target.protocol === 'https:' ? '443' : '80');
    connect({ ...target, protocol: 'http:', port }, (...[error, tcp]) => {
      if (error !== null) return callback(error, null);
      if (target.protocol !== 'https:') return callback(null, resetWhenGivenUp(tcp, tcp));
      connect({ ...target, httpSocket: tcp }, (...[failure, tls]) => {
        if (failure !== null) return callback(failure, null);
        callback(null, resetWhenGivenUp(tls, tcp));
      });
    });
  };
}

function resetWhenGivenUp(socket: Socket, tcp: Socket): Socket {
  const [destroy, close] = [socket.destroy.bind(socket), tcp.destroy.bind(tcp)];
  socket.destroy = (error) => {
    if (error?.message !== GIVEN_UP || tcp.destroyed) return destroy(error);
    // A TLS socket destroys the TCP socket below it; resetting the TCP socket first crashes Node.
    tcp.destroy = () => {
      tcp.destroy = () => close(error);
      return tcp.resetAndDestroy();
    };
    return socket === tcp ? tcp.destroy() : destroy(error);
  };
  return socket;
}
