/** The web server of the role console: receives calls from outside systems, and answers health checks. */
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyInstance, LogController } from 'fastify';
import { codeOf, LockstepError, messageOf } from '../../base/errors.ts';
import type { Target } from '../../contract/target.ts';
import { addHooks, type HookNeeds } from './hooks.ts';

export interface ConsoleNeeds extends Pick<HookNeeds, 'pool' | 'names'> {
  readonly targets: { open(name: string): Promise<Target> };
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly log?: FastifyBaseLogger;
}

export interface Console {
  readonly url: string;
  /** Opens each target again before it reads another call. */
  renew(): Promise<void>;
  /** Finishes requests in flight. Idempotent. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** The time in which a call must arrive whole. */
const REQUEST_TIMEOUT_MS = 15_000;
const CLOSING_GRACE_MS = 5_000;

const PAGE = `Lockstep

This process takes calls from outside systems: POST /hooks/TARGET, with TARGET as the settings name it.
GET /health answers 200 while it does.
`;

/** Throws LockstepError CONSOLE_PORT_IN_USE or CONSOLE_CANNOT_LISTEN. */
export async function startConsole(needs: ConsoleNeeds): Promise<Console> {
  const { pool, names, targets, host, port, log } = needs;
  const opened = new Map<string, Promise<Target>>();
  const target = (name: string): Promise<Target> => {
    const known = opened.get(name);
    if (known) return known;
    const opening = targets.open(name);
    opened.set(name, opening);
    opening.catch(() => opened.delete(name)); // the next call tries again: the secret may be available by then
    return opening;
  };
  const app: FastifyInstance = Fastify({
    ...(log && { loggerInstance: log, logController: new LogController({ disableRequestLogging: true }) }),
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 100 },
  });
  // A signature is over the bytes as they were sent.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  answerErrors(app);
  app.get('/', (_request, reply) => reply.type('text/plain; charset=utf-8').send(PAGE));
  app.get('/health', async () => ({ status: 'ok' }));
  addHooks(app, { pool, names, target });
  refuseOtherMethods(app);
  await listen(app, host, port);

  async function renew(): Promise<void> {
    const before = [...opened.values()];
    opened.clear();
    await Promise.all(before.map(async (opening) => (await opening).close()));
  }
  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    const grace = setTimeout(() => app.server.closeAllConnections(), CLOSING_GRACE_MS);
    await app.close().finally(() => clearTimeout(grace));
    await renew();
  }
  return { url: urlOf(app.server.address(), host), renew, close: () => (closed ??= close()) };
}

function answerErrors(app: FastifyInstance): void {
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ status: 'refused', reason: 'this page does not exist' }),
  );
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ status: 'refused', reason: error.message });
    request.log.error({ err: error, path: request.routeOptions.url }, 'a call could not be received');
    return reply
      .code(503)
      .header('retry-after', '30')
      .send({ status: 'refused', reason: 'temporarily unavailable: send the call again later' });
  });
}

function refuseOtherMethods(app: FastifyInstance): void {
  const pages = [
    { url: '/', allow: ['GET', 'HEAD'] },
    { url: '/health', allow: ['GET', 'HEAD'] },
    { url: '/hooks/:target', allow: ['POST'] },
  ];
  for (const { url, allow } of pages) {
    const method = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) => !allow.includes(one));
    app.route({
      method,
      url,
      handler: (_request, reply) =>
        reply
          .code(405)
          .header('allow', allow.join(', '))
          .send({ status: 'refused', reason: `only ${allow.join(' and ')}` }),
    });
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    if (codeOf(cause) === 'EADDRINUSE') {
      const message = `the console cannot listen on ${host}:${port}: the port is in use. Stop the other process, or set console.listen to another one`;
      throw new LockstepError('CONSOLE_PORT_IN_USE', message, { cause, exitCode: 2 });
    }
    const message = `the console cannot listen on ${host}:${port}: ${messageOf(cause)}. Set console.listen to another address`;
    throw new LockstepError('CONSOLE_CANNOT_LISTEN', message, { cause, exitCode: 2 });
  }
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
