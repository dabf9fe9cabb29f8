/** The OpenAPI 3.1 document of the API, made from its operations. */
import { z } from 'zod';
import { jsonContent, parametersIn, type Schema, schemaOf } from '../../base/openapi.ts';
import type { Endpoint } from './endpoint.ts';

export const PREFIX = '/api/v1';
/** The types that a file may be sent as. */
export const FILE_TYPES = ['text/csv', 'application/gzip', 'application/octet-stream'];

export function consoleDocument(endpoints: readonly Endpoint[]): Schema {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Lockstep', version: 'v1', description: 'What the console shows and does.' },
    servers: [{ url: PREFIX }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: schemaOf(errorSchema, 'output') },
    },
  };
}

const errorSchema = z.object({
  error: z.object({
    code: z.string().describe('Does not change between versions.'),
    message: z.string().describe('What failed and what to do, for people.'),
  }),
});

function operationOf({ name, summary, params, query, body, isFile, answer }: Endpoint): Schema {
  return {
    operationId: name,
    summary,
    parameters: [...parametersIn('path', params), ...parametersIn('query', query)],
    ...(body && { requestBody: { content: jsonContent(schemaOf(body, 'input')) } }),
    ...(isFile && { requestBody: { required: true, content: FILE } }),
    responses: {
      200: { description: 'Done', content: jsonContent(schemaOf(answer, 'output')) },
      default: { description: 'Refused', content: jsonContent({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

const FILE = Object.fromEntries(FILE_TYPES.map((type) => [type, {}]));
