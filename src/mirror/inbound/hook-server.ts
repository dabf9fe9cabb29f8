/** Calls from outside systems on a web server: `POST /hooks/TARGET`. */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import type { Target } from '../../contract/target.ts';
import { addHooks, type HookNeeds } from './hooks.ts';
import { openedOnce } from './opened-once.ts';

export interface HookServerNeeds extends Pick<HookNeeds, 'pool' | 'names'> {
  readonly targets: { open(name: string): Promise<Target> };
}

export interface HookServer {
  /** Opens each target again before it reads another call. */
  renew(): Promise<void>;
}

export async function addHookServer(app: FastifyInstance, needs: HookServerNeeds): Promise<HookServer> {
  const { pool, names, targets } = needs;
  const opened = openedOnce(targets);
  await app.register(async (scope) => {
    readHookBodies(scope);
    answerErrors(scope);
    addHooks(scope, { pool, names, target: opened.open });
    scope.route({
      method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      url: '/hooks/:target',
      handler: (_request, reply) =>
        reply.code(405).header('allow', 'POST').send({ status: 'refused', reason: 'only POST' }),
    });
  });
  return { renew: opened.closeAll };
}

function answerErrors(scope: FastifyInstance): void {
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ status: 'refused', reason: error.message });
    const level = statusCode === 503 ? 'debug' : 'error'; // anyone can send too many large calls
    request.log[level]({ err: error, path: request.routeOptions.url }, 'a call could not be received');
    return reply
      .code(503)
      .header('retry-after', '30')
      .send({ status: 'refused', reason: 'temporarily unavailable: send the call again later' });
  });
}

/** GitHub's largest: docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** Hardly any call is larger. */
const SMALL_BYTES = 256 * 1024;
const MOST_LARGE = 4;

/**
 * Reads bodies as they were sent: a signature is over these bytes. Anyone can send a body, so only a few large ones are held at
 * the same time.
 */
function readHookBodies(scope: FastifyInstance): void {
  const large = new Set<IncomingMessage>();
  /** Callers that have gone: what they sent may be read later. */
  const gone = new WeakSet<IncomingMessage>();
  scope.removeAllContentTypeParsers();
  scope.addHook('onRequest', async ({ raw }, reply) => {
    reply.raw.once('close', () => {
      gone.add(raw);
      large.delete(raw);
    });
  });
  scope.addContentTypeParser('*', async (_: FastifyRequest, payload: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of payload.iterator({ destroyOnReturn: false })) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
        if (bytes <= SMALL_BYTES || large.has(payload) || gone.has(payload)) continue;
        if (large.size >= MOST_LARGE) throw new TooManyLarge();
        large.add(payload);
      }
      return Buffer.concat(chunks);
    } finally {
      payload.resume(); // the caller reads its answer once it has sent everything
    }
  });
}

class TooManyLarge extends Error {
  readonly statusCode = 503;
}
