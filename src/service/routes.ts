/**
 * The routes, made from the operations table: every operation under every prefix and every documented method. Other methods
 * have none, because each route lengthens the start: `otherMethods` refuses them.
 */
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Method, Operation } from '../contract/operation.ts';
import { type OperationName, operationNames, operations } from '../contract/operations.ts';
import type { Admit, Admitted } from './admission.ts';
import { readGetBody } from './bodies.ts';
import type { ServeCall } from './calls.ts';
import { sendAnswer, sendServed } from './reply.ts';
import type { Refused } from './result.ts';
import type { Behaviour } from './testbed/behaviour.ts';
import type { Answer, Dialect } from './testbed/dialect.ts';
import type { TestBed } from './testbed/faults.ts';

export interface RouteParts {
  readonly behaviour: Behaviour;
  readonly dialect: Dialect;
  readonly admit: Admit;
  readonly serve: ServeCall;
  readonly testBed: TestBed;
  /** Connections that will never be answered. */
  readonly silent: Set<Socket>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route of the contract, before the body is read. */
    admitted: Admitted | undefined;
  }
}

const OTHER_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export function addRoutes(app: FastifyInstance, parts: RouteParts): void {
  app.decorateRequest('admitted', undefined);
  const paths = routesOf(parts.behaviour);
  for (const prefix of parts.behaviour.prefixes) {
    for (const [path, methods] of paths) {
      const url = prefix + path.replace(/\{(\w+)\}/g, ':$1');
      for (const [method, name] of methods) addRoute(app, parts, { url, method, name });
    }
  }
}

function addRoute(
  app: FastifyInstance,
  parts: RouteParts,
  route: { url: string; method: Method; name: OperationName },
) {
  const { dialect, admit, serve, testBed, silent } = parts;
  const { url, method, name } = route;
  const readsGetBody = method === 'GET' && name === 'tasks.complete';
  app.route({
    method,
    url,
    async onRequest(request, reply) {
      const outcome = await admit(name, request.headers, request.ip);
      const refused = outcome.status === 'refused' ? outcome : unreadable(request);
      if (refused !== undefined) return sendAnswer(closing(reply, refused), dialect.refusal(refused));
      if (outcome.status === 'admitted') request.admitted = outcome;
    },
    async handler(request, reply) {
      const { admitted, params, query } = request;
      if (admitted === undefined) throw new Error(`${url} was reached without admission`);
      const body = readsGetBody ? ((await readGetBody(request.raw)) ?? completionIn(query)) : request.body;
      const run = (): Promise<Answer> => serve(name, admitted.caller.tenantId, { params, query, body });
      reply.headers(admitted.headers);
      return sendServed(reply, await testBed.around(name, run), silent);
    },
  });
}

/**
 * Closes the connection, so that the rest of a refused request is not waited for. A 429 keeps it open: its caller has a
 * valid key and only has to slow down.
 */
function closing(reply: FastifyReply, { httpStatus }: Refused): FastifyReply {
  return httpStatus === 429 ? reply : reply.header('connection', 'close');
}

/** Refusals that are possible before the body is read. */
function unreadable({ headers, raw }: FastifyRequest): Refused | undefined {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'Content-Encoding: not supported, so send the body without a content encoding';
    return { status: 'refused', httpStatus: 415, message, headers: { 'accept-encoding': 'identity' } };
  }
  const query = raw.url?.split('?').slice(1).join('?') ?? '';
  if (isDecodable(query)) return undefined;
  return {
    status: 'refused',
    httpStatus: 400,
    message: 'the query is not valid: % is not followed by UTF-8 in hexadecimal digits',
  };
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** The refusal of a request that has no route because its path takes other methods; undefined if there is no such path. */
export function otherMethods(behaviour: Behaviour): (method: string, path: string) => Refused | undefined {
  const known = [...routesOf(behaviour)].map(([path, methods]) => {
    const pattern = new RegExp(`^(${behaviour.prefixes.join('|')})${path.replace(/\{\w+\}/g, '[^/]+')}$`);
    return { pattern, allow: [...methods.keys()].join(', ') };
  });
  return (method, path) => {
    const allow = OTHER_METHODS.includes(method) && known.find(({ pattern }) => pattern.test(path))?.allow;
    if (!allow) return undefined;
    const message = `${method} is not for this path, which takes ${allow}`;
    return { status: 'refused', httpStatus: 405, message, headers: { allow } };
  };
}

/** A GET without a body, as in the heading of mark-complete: it completes the task unless its query says otherwise. */
function completionIn(query: unknown): { isCompleted: boolean } {
  const asked = typeof query === 'object' && query !== null && 'isCompleted' in query ? query.isCompleted : 'true';
  return { isCompleted: asked !== 'false' && asked !== '0' };
}

/** By path and method; of two operations on one path (the comments), the first represents both. */
function routesOf({ completeMethods }: Behaviour): Map<string, Map<Method, OperationName>> {
  const paths = new Map<string, Map<Method, OperationName>>();
  for (const name of operationNames) {
    const { path, method, otherMethod }: Operation = operations[name];
    const methods = paths.get(path) ?? new Map<Method, OperationName>();
    for (const one of otherMethod === undefined ? [method] : completeMethods) {
      if (!methods.has(one)) methods.set(one, name);
    }
    paths.set(path, methods);
  }
  return paths;
}
