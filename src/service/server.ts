/** The complete Sales & Productivity service: its contract over HTTP, stored in the given Postgres. */
import type { Socket } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type pg from 'pg';
import type { Logger } from 'pino';
import { codeOf, messageOf, wrongUse } from '../base/errors.ts';
import { serverUrl } from '../base/server-url.ts';
import { type Arrival, admission } from './admission.ts';
import { acceptJsonOnly, bodyTooLarge, MAX_BODY_BYTES } from './bodies.ts';
import { callServer } from './calls.ts';
import { addDocumentation } from './documentation.ts';
import { CONNECTION_LIMITS, type ConnectionLimits, NO_SNIFFING, refuseConnection } from './limits.ts';
import { sendAnswer } from './reply.ts';
import type { Refused } from './result.ts';
import { addRoutes, otherMethods } from './routes.ts';
import { migrateService } from './store/migrations.ts';
import { type Behaviour, type BehaviourOptions, behaviourSchema } from './testbed/behaviour.ts';
import { type Dialect, dialectOf } from './testbed/dialect.ts';
import { testBed } from './testbed/faults.ts';

export interface ServiceOptions {
  /** The caller closes it. */
  readonly pool: pg.Pool;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** How to answer where the contract leaves gaps; default: our choices. */
  readonly behaviour?: BehaviourOptions;
  /** Default: `CONNECTION_LIMITS`. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Default: no log. */
  readonly log?: Logger;
  /** Called for each request of an operation. */
  readonly onArrival?: (arrival: Arrival) => void;
}

export interface Service {
  /** Without a path, such as `http://127.0.0.1:4100`. */
  readonly url: string;
  /** How many faults the test bed has caused, by kind. */
  readonly faults: () => ReadonlyMap<string, number>;
  /** Runs the test bed's pending late commits now. */
  readonly commitLate: () => Promise<void>;
  /** Finishes the requests in progress, then stops. Idempotent. */
  close(): Promise<void>;
}

const CLOSING_GRACE_MS = 5_000;
const IDLE_CHECK_MS = 50;

/**
 * Updates the service's tables and listens. Throws LockstepError `SERVICE_PORT_IN_USE` or `SERVICE_CANNOT_LISTEN`, and
 * errors of Postgres.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { pool, host = '127.0.0.1', port = 0, log } = options;
  const behaviour = behaviourSchema.parse(options.behaviour ?? {});
  await migrateService(pool);
  const bed = testBed(behaviour);
  const silent = new Set<Socket>();
  const dialect = dialectOf(behaviour);
  const limits: ConnectionLimits = { ...CONNECTION_LIMITS, ...options.limits };
  const logger: FastifyBaseLogger | undefined = log;
  const app: FastifyInstance = Fastify({
    ...(logger === undefined
      ? {}
      : { loggerInstance: logger, logController: new LogController({ disableRequestLogging: true }) }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: limits.requestMs,
    http: { headersTimeout: limits.headersMs, connectionsCheckingInterval: limits.checkEveryMs },
    clientErrorHandler: (error, socket) => refuseConnection(dialect, error, socket),
    frameworkErrors: (error, request, reply) => answerError(error, request, reply, dialect),
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 100 },
  });
  app.server.maxConnections = limits.connections;
  app.addHook('onRequest', async (_request, { raw }) => void raw.setHeader(...NO_SNIFFING));
  acceptJsonOnly(app);
  answerErrors(app, behaviour, dialect);
  await addDocumentation(app);
  const admit = admission(pool, behaviour, options.onArrival);
  addRoutes(app, { behaviour, dialect, admit, serve: callServer(pool, behaviour, dialect), testBed: bed, silent });
  await listen(app, host, port);

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    for (const socket of silent) socket.destroy();
    // A connection that was answering when closing began stays open afterwards, so it has to be closed separately.
    const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
    const grace = setTimeout(() => app.server.closeAllConnections(), CLOSING_GRACE_MS);
    await Promise.all([app.close(), bed.close()]).finally(() => {
      clearInterval(idle);
      clearTimeout(grace);
    });
  }
  return {
    url: serverUrl(app.server.address(), host),
    faults: bed.counts,
    commitLate: bed.commitLate,
    close: () => (closed ??= close()),
  };
}

/** Every error is an envelope, or the form that the behaviour gives it. */
function answerErrors(app: FastifyInstance, behaviour: Behaviour, dialect: Dialect): void {
  const otherMethod = otherMethods(behaviour);
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const message = `no such operation: ${request.method} ${path.slice(0, 200)}`;
    const refused = otherMethod(request.method, path) ?? { status: 'refused', httpStatus: 404, message };
    return sendAnswer(reply, dialect.refusal(refused));
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => answerError(error, request, reply, dialect));
}

function answerError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  dialect: Dialect,
): FastifyReply {
  const refused = refusedFor(error);
  if (refused.httpStatus === 500) request.log.error({ err: error, path: request.routeOptions.url }, 'unexpected error');
  return sendAnswer(reply.header(...NO_SNIFFING), dialect.refusal(refused));
}

function refusedFor(error: FastifyError): Refused {
  switch (error.statusCode) {
    case 400:
      return { status: 'refused', httpStatus: 400, message: error.message };
    case 413:
      return { status: 'refused', httpStatus: 413, message: bodyTooLarge().message };
    case 414:
      return { status: 'refused', httpStatus: 414, message: 'the path is too long' };
    case 415:
      return { status: 'refused', httpStatus: 415, message: 'Content-Type: expected application/json' };
    default:
      return { status: 'refused', httpStatus: 500, message: 'unexpected error; it is in the log of the service' };
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    if (codeOf(cause) === 'EADDRINUSE') {
      const message = `The service cannot listen on ${host}:${port}: the port is in use. Stop the other process, or choose another port (--port; in a program, the option port)`;
      throw wrongUse(message, 'SERVICE_PORT_IN_USE', cause);
    }
    const message = `The service cannot listen on ${host}:${port}: ${messageOf(cause)}. Choose another address (--listen and --port; in a program, the options listen and port)`;
    throw wrongUse(message, 'SERVICE_CANNOT_LISTEN', cause);
  }
}
