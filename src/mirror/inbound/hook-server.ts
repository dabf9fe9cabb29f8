/** Calls from outside systems on a web server: `POST /hooks/TARGET`. */
import type { FastifyError, FastifyInstance } from 'fastify';
import type { Target } from '../../contract/target.ts';
import { readHookBodies } from './hook-bodies.ts';
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
