/** The routes of the API: JSON, with a token, or with the session of a page. */
import type { FastifyInstance } from 'fastify';
import { LockstepError } from '../../base/errors.ts';
import { failureOf } from '../failures.ts';
import { UPLOAD_TIMEOUT_MS } from '../loads/uploads.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { FILE_TYPES, openApiDocument } from './openapi.ts';

export function addApi(app: FastifyInstance, needs: SharedNeeds): void {
  app.setErrorHandler((error, request, reply) => {
    const { httpStatus, code, message } = failureOf(error, needs.database);
    if (httpStatus >= 500) request.log.error({ err: error, path: request.routeOptions.url }, 'the API cannot answer');
    return reply.code(httpStatus).header('cache-control', 'no-store').send({ error: { code, message } });
  });
  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send({ error: { code: 'NOT_FOUND', message: 'There is no such operation: see /api/v1/openapi.json' } }),
  );
  const document = openApiDocument(endpoints);
  app.get('/openapi.json', async () => document);
  for (const endpoint of endpoints) if (!endpoint.isFile) addRoute(app, needs, endpoint);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FILE_TYPES, (_request, payload, done) => done(null, payload));
    for (const endpoint of endpoints) if (endpoint.isFile) addRoute(scope, needs, endpoint);
  });
}

function addRoute(app: FastifyInstance, needs: SharedNeeds, { method, path, isFile, answerTo }: Endpoint): void {
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(isFile && { config: { bodyTimeoutMs: UPLOAD_TIMEOUT_MS } }),
    async handler({ person, params, query, body }, reply) {
      if (!person)
        throw new LockstepError('CONSOLE_SIGN_IN', 'Send a token of console.tokens: Authorization: Bearer TOKEN');
      reply.header('cache-control', 'no-store');
      return answerTo(needs, { taking: { person, via: 'api' }, params, query, body });
    },
  });
}
