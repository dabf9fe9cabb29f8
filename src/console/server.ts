/** The web server of the role console: its pages, its API, and calls from outside systems. */
import cookie from '@fastify/cookie';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { codeOf, messageOf, wrongUse } from '../base/errors.ts';
import { serverUrl } from '../base/server-url.ts';
import { addHookServer } from '../mirror/inbound/hook-server.ts';
import { isLoopback } from '../settings/fields.ts';
import { addGuard, addHeaders, isOfProgram } from './access/guard.ts';
import { addLogin } from './access/login.tsx';
import { createPeople } from './access/people.ts';
import { PREFIX } from './api/openapi.ts';
import { addApi, sendFailure } from './api/routes.ts';
import { addAssets } from './assets.ts';
import { addBullBoard } from './bull-board.ts';
import { createExaminations } from './examinations.ts';
import { addLoads } from './loads/load-routes.ts';
import { createLoads } from './loads/loads.ts';
import { UPLOAD_TIMEOUT_MS } from './loads/uploads.ts';
import type { ConsoleNeeds } from './needs.ts';
import { addPages } from './routes.tsx';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The time in which a request must arrive whole. Default: 15 s. */
    readonly bodyTimeoutMs?: number;
  }
}

export interface Console {
  readonly url: string;
  /** Opens each target again before it reads another call. */
  renew(): Promise<void>;
  /** Finishes requests in flight. Idempotent. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** The time in which a request must arrive whole. */
const REQUEST_TIMEOUT_MS = 15_000;
const CLOSING_GRACE_MS = 5_000;

/** No route is found for such an address, so no hook has run. */
function refuseAddress(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const message = 'The address is not valid: a part of it is too long, or is not percent-encoded UTF-8.';
  if (isOfProgram(request)) return sendFailure(reply, { httpStatus: 400, code: 'REQUEST_INVALID', message });
  return reply.code(400).type('text/plain; charset=utf-8').send(message);
}

/** Throws LockstepError CONSOLE_NEEDS_PASSWORD, CONSOLE_TOKEN_SHORT, CONSOLE_PORT_IN_USE or CONSOLE_CANNOT_LISTEN. */
export async function startConsole(needs: ConsoleNeeds): Promise<Console> {
  const { pool, settings, readSecret, log } = needs;
  const { host, port, trustProxy, ...who } = settings().console;
  const people = createPeople({ db: pool, settings: who, readSecret });
  if (people.isOpen) requireLoopback(host);
  await people.check();
  const app: FastifyInstance = Fastify({
    ...(log && { loggerInstance: quiet(log), logController: new LogController({ disableRequestLogging: true }) }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS },
    forceCloseConnections: 'idle',
    trustProxy: [...trustProxy],
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: (_error, request, reply) => refuseAddress(request, reply),
  });
  endLate(app);
  readToTheEnd(app);
  app.get('/health', async () => ({ status: 'ok' }));
  const hooks = await addHookServer(app, needs);
  addHeaders(app);
  addAssets(app);
  await app.register(cookie);
  const loads = createLoads(needs);
  await loads.uploads.sweep();
  const examinations = createExaminations(needs);
  const own = { ...needs, people, loads, examinations };
  await app.register(async (scope) => {
    addGuard(scope, { people, host });
    await addLogin(scope, own);
    addPages(scope, own);
    await addLoads(scope, own);
    addBullBoard(scope, own);
  });
  await app.register(
    async (scope) => {
      addGuard(scope, { people, host });
      addApi(scope, own);
    },
    { prefix: PREFIX },
  );
  await listen(app, host, port);

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    const grace = setTimeout(() => app.server.closeAllConnections(), CLOSING_GRACE_MS);
    await app.close().finally(() => clearTimeout(grace));
    await Promise.all([loads.close(), examinations.close()]);
    await hooks.renew();
  }
  return { url: serverUrl(app.server.address(), host), renew: hooks.renew, close: () => (closed ??= close()) };
}

/** The caller says where the console listens. With --verbose the log has everything, such as why a call is refused. */
function quiet(log: FastifyBaseLogger): FastifyBaseLogger {
  return log.level === 'info' ? log.child({}, { level: 'warn' }) : log;
}

/** Ends a request that did not arrive whole in time. */
function endLate(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw, routeOptions }) => {
    const allowedMs = routeOptions.config.bodyTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const timer = setTimeout(() => raw.complete || raw.destroy(), allowedMs);
    raw.once('close', () => clearTimeout(timer));
  });
}

/** Many clients, such as browsers, read an answer only once they have sent all of their request. */
function readToTheEnd(app: FastifyInstance): void {
  app.addHook('onResponse', async ({ raw }) => {
    raw.unpipe().resume();
  });
}

function requireLoopback(host: string): void {
  if (isLoopback(host)) return;
  const message = `The console listens on ${host}, where other machines can reach it, and has no password. Set console.password, or let console.listen be an address of this machine only, such as 127.0.0.1:4000`;
  throw wrongUse(message, 'CONSOLE_NEEDS_PASSWORD');
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    if (codeOf(cause) === 'EADDRINUSE') {
      const message = `The console cannot listen on ${host}:${port}: the port is in use. Stop the other process, or set console.listen to another port`;
      throw wrongUse(message, 'CONSOLE_PORT_IN_USE', cause);
    }
    const message = `The console cannot listen on ${host}:${port}: ${messageOf(cause)}. Set console.listen to another address`;
    throw wrongUse(message, 'CONSOLE_CANNOT_LISTEN', cause);
  }
}
