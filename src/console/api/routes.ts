/** The routes of the API: JSON, with a token, or with the session of a page. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { requirePerson } from '../access/guard.ts';
import { type Failure, pageFailure } from '../failures.ts';
import { UPLOAD_TIMEOUT_MS } from '../loads/uploads.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import type { Endpoint } from './endpoint.ts';
import { endpoints } from './endpoints.ts';
import { consoleDocument, FILE_TYPES } from './openapi.ts';

export function addApi(app: FastifyInstance, needs: SharedNeeds): void {
  app.setErrorHandler((error, request, reply) => {
    const failure = pageFailure(error, needs.database);
    if (failure.httpStatus >= 500)
      request.log.error({ err: error, path: request.routeOptions.url }, 'the API cannot answer');
    return sendFailure(reply, failure);
  });
  app.setNotFoundHandler((_request, reply) => {
    const message = 'There is no such operation: see /api/v1/openapi.json';
    return sendFailure(reply, { httpStatus: 404, code: 'NOT_FOUND', message });
  });
  const document = consoleDocument(endpoints);
  app.get('/openapi.json', async () => document);
  for (const endpoint of endpoints) if (!endpoint.isFile) addRoute(app, needs, endpoint);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(FILE_TYPES, (_request, payload, done) => done(null, payload));
    for (const endpoint of endpoints) if (endpoint.isFile) addRoute(scope, needs, endpoint);
  });
}

/** As programs read it. */
export function sendFailure(reply: FastifyReply, { httpStatus, code, message }: Failure): FastifyReply {
  return reply.code(httpStatus).header('cache-control', 'no-store').send({ error: { code, message } });
}

function addRoute(app: FastifyInstance, needs: SharedNeeds, { method, path, isFile, answerTo }: Endpoint): void {
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    ...(isFile && { config: { bodyTimeoutMs: UPLOAD_TIMEOUT_MS } }),
    async handler(request, reply) {
      const person = requirePerson(request);
      const { params, query, body } = request;
      reply.header('cache-control', 'no-store');
      return answerTo(needs, { taking: { person, via: 'api' }, params, query, body });
    },
  });
}
