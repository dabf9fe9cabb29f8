/**
 * Calls that come in from outside systems: `POST /hooks/TARGET`. The target's own secret decides whether a call is genuine.
 * The answer says that a call was received only after it is stored.
 */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCodes, type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify';
import type pg from 'pg';
import { LockstepError } from '../../base/errors.ts';
import type { HookRequest, Target } from '../../contract/target.ts';
import { isOwnDelivery } from '../outbox/deliveries.ts';
import { keepHook } from './inbox.ts';
import { openedOnce } from './opened-once.ts';

export interface HookServerNeeds {
  readonly pool: pg.Pool;
  /** The targets of the settings, by name. */
  readonly names: () => readonly string[];
  readonly targets: { open(name: string): Promise<Target> };
}

export interface HookServer {
  /** Opens each target again before it reads another call. */
  renew(): Promise<void>;
}

export async function addHookServer(app: FastifyInstance, needs: HookServerNeeds): Promise<HookServer> {
  const opened = openedOnce(needs.targets);
  await app.register(async (scope) => {
    readHookBodies(scope);
    answerErrors(scope);
    addHooks(scope, { ...needs, targets: opened });
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

interface Answer {
  readonly httpStatus: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body:
    | { readonly status: 'accepted'; readonly items: number }
    | { readonly status: 'refused'; readonly reason: string };
}

/**
 * The answer to a caller who has not proved that the target knows it. It is the same for every name, after the same time, so
 * it does not reveal which targets exist; the log has the reason.
 */
const NOT_ACCEPTED: Answer = {
  httpStatus: 401,
  body: {
    status: 'refused',
    reason:
      'no target with this name accepts this call, or its signature is wrong: the log of lockstep start --verbose has the reason',
  },
};
const NOT_ACCEPTED_AFTER_MS = 150;

function addHooks(app: FastifyInstance, needs: HookServerNeeds): void {
  app.post<{ Params: { target: string } }>('/hooks/:target', async (request, reply) => {
    const answerable = delay(NOT_ACCEPTED_AFTER_MS);
    const { httpStatus, headers = {}, body } = await receive(needs, request.params.target, request);
    if (httpStatus === NOT_ACCEPTED.httpStatus) await answerable;
    return reply.code(httpStatus).headers(headers).send(body);
  });
}

async function receive(
  { pool, names, targets }: HookServerNeeds,
  name: string,
  request: FastifyRequest,
): Promise<Answer> {
  const notAccepted = (why: string): Answer => {
    request.log.debug({ target: name, why }, 'an incoming call is not accepted');
    return NOT_ACCEPTED;
  };
  if (!names().includes(name)) return notAccepted('the settings have no target of that name');
  const call: HookRequest = {
    headers: headersOf(request),
    body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
  };
  try {
    const { readHook } = await targets.open(name);
    if (readHook === undefined) return notAccepted('this target does not accept calls');
    const verdict = await readHook(call, new Date());
    if (verdict.status === 'refused') {
      return verdict.httpStatus === 401 ? notAccepted(verdict.reason) : refused(verdict.httpStatus, verdict.reason);
    }
    // A receiver signs with the secret of our deliveries, so one of these that comes back is signed, too. It reports nothing.
    if (verdict.id !== undefined && (await isOwnDelivery(pool, verdict.id)))
      return refused(
        400,
        'this is a delivery of Lockstep, sent back: a call of your own needs a webhook-id of your own',
      );
    const digest = verdict.isUndated ? undefined : digestOf(call, verdict.id);
    await keepHook(pool, name, verdict.items, digest);
    // Most vendors show it in their list of deliveries: 0 means that the call was about something else.
    return { httpStatus: 200, headers: verdict.headers, body: { status: 'accepted', items: verdict.items.length } };
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    request.log.error({ target: name, err: error }, 'an incoming call could not be checked');
    return NOT_ACCEPTED;
  }
}

/** Covers only the parts that the sender has signed, because all other parts can be changed when a call is repeated. */
function digestOf({ body }: HookRequest, id = ''): string {
  return createHash('sha256').update(JSON.stringify(id)).update(body).digest('base64url');
}

function headersOf({ headers }: FastifyRequest): HookRequest['headers'] {
  const joined = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(joined);
}

function refused(httpStatus: number, reason: string): Answer {
  return { httpStatus, body: { status: 'refused', reason } };
}
