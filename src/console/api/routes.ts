/** The routes of the API: JSON, with a token, or with the session of a page. */
import type { FastifyInstance } from 'fastify';
import { LockstepError } from '../../base/errors.ts';
import { failureOf } from '../failures.ts';
import { UPLOAD_TIMEOUT_MS } from '../loads/uploads.ts';
import type { SharedNeeds } from '../shared-needs.ts';
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
  app.addContentTypeParser(FILE_TYPES, (_request, payload, done) => done(null, payload));
  for (const { method, path, isFile, answerTo } of endpoints) {
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
}
