/** The OpenAPI 3.1 document of the service, made from the operations table. */
import type { z } from 'zod';
import { jsonContent, parametersIn, type Schema, schemaOf } from '../base/openapi.ts';
import { type Method, type Operation, PREFIXES } from '../contract/operation.ts';
import { type OperationName, operationNames, operations } from '../contract/operations.ts';

/** By method in lower case, as in OpenAPI. */
type PathItem = Record<string, Schema & { readonly summary: string }>;

/** Paths have no prefix; the two servers are the two prefixes. */
export function serviceDocument(): Schema {
  const paths: Record<string, PathItem> = {};
  for (const name of operationNames) {
    const { path, method, otherMethod }: Operation = operations[name];
    const item = paths[path] ?? {};
    paths[path] = item;
    for (const one of otherMethod === undefined ? [method] : [method, otherMethod]) {
      const key = one.toLowerCase();
      const shared = item[key]; // the comments on contacts and on cards share one path
      const summary =
        shared === undefined ? operations[name].summary : `${shared.summary} / ${operations[name].summary}`;
      item[key] = { ...(shared ?? operationOf(name, one)), summary };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sales & Productivity service',
      version: 'v1',
      description: 'Contacts, customers, orders, tasks, subtasks and pipelines of one tenant, named by its API key.',
    },
    servers: PREFIXES.map((url) => ({ url })),
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'API_KEY' } },
      schemas: { Error: envelopeOf('error', { type: 'null' }) },
    },
  };
}

function operationOf(name: OperationName, method: Method) {
  const { summary, params, query, body, result, method: mainMethod }: Operation = operations[name];
  const hasBody = body !== undefined && method === mainMethod;
  return {
    operationId: method === mainMethod ? name : `${name}.${method.toLowerCase()}`,
    summary,
    tags: [name.split('.', 1)[0] ?? name],
    parameters: [...parametersIn('path', params), ...parametersIn('query', query)],
    requestBody: hasBody ? { required: true, content: jsonContent(schemaOf(body, 'input')) } : undefined,
    responses: {
      200: { description: 'Done', content: jsonContent(envelopeOf('success', contentOf(result))) },
      default: { description: 'Refused', content: jsonContent({ $ref: '#/components/schemas/Error' }) },
    },
  };
}

function contentOf(result: z.ZodType | undefined): Schema {
  return result === undefined ? { type: 'null' } : schemaOf(result, 'output');
}

function envelopeOf(status: 'success' | 'error', content: Schema): Schema {
  return {
    type: 'object',
    properties: { status: { const: status }, content, message: { type: 'string' } },
    required: ['status', 'content', 'message'],
  };
}
