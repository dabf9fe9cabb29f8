/** The OpenAPI document at /openapi.json and a page to browse it at /docs; neither needs a key. */
import swagger, { type StaticDocumentSpec } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Schema } from '../base/openapi.ts';
import { serviceDocument } from './openapi.ts';

/** The page loads nothing from other hosts and does not send the document to a validator. */
const OWN_ORIGIN_ONLY = [
  "default-src 'self'",
  "base-uri 'none'",
  "font-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "object-src 'none'",
  "script-src-attr 'none'",
].join('; ');

/** The same for all services of a process. Not made at import, because it takes long. */
let document: Schema | undefined;

export async function addDocumentation(app: FastifyInstance): Promise<void> {
  document ??= serviceDocument();
  const text = JSON.stringify(document);
  // as: the plugin passes a static document on unchanged, but its type supports OpenAPI only up to 3.0.
  const specification = { document } as unknown as StaticDocumentSpec;
  await app.register(swagger, { mode: 'static', specification });
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: OWN_ORIGIN_ONLY, uiConfig: { validatorUrl: null } });
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text));
}
