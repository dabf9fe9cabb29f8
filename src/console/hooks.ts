/**
 * Calls that come in from outside systems: `POST /hooks/TARGET`. The target's own secret says whether one is genuine, and
 * nobody is told that it was received before it is written down.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { LockstepError } from '../errors.ts';
import { keepHook } from '../reports/inbox.ts';
import type { HookRequest, Target } from '../targets/target.ts';

export interface HookNeeds {
  readonly pool: pg.Pool;
  /** The targets of the settings, by name. */
  readonly names: readonly string[];
  /** Gives the same target every time; whoever has opened it closes it. */
  readonly target: (name: string) => Promise<Target>;
}

interface Answer {
  readonly httpStatus: number;
  readonly body:
    | { readonly status: 'accepted'; readonly items: number }
    | { readonly status: 'refused'; readonly reason: string };
}

export function addHooks(app: FastifyInstance, needs: HookNeeds): void {
  app.post<{ Params: { target: string } }>('/hooks/:target', async (request, reply) => {
    const { httpStatus, body } = await receive(needs, request.params.target, request);
    return reply.code(httpStatus).send(body);
  });
}

async function receive({ pool, names, target }: HookNeeds, name: string, request: FastifyRequest): Promise<Answer> {
  // What there is, and what of it takes calls, is nobody's business: both are answered alike.
  if (!names.includes(name)) return NO_HOOK;
  const opened = await target(name).catch((error: unknown) => {
    if (error instanceof LockstepError) return undefined;
    throw error;
  });
  if (opened === undefined) return refused(503, 'this target cannot be used for now: lockstep settings check says why');
  if (opened.readHook === undefined) return NO_HOOK;
  const call: HookRequest = { headers: headersOf(request), body: bodyOf(request) };
  const verdict = await opened.readHook(call, new Date());
  if (verdict.status === 'refused') return refused(verdict.httpStatus, verdict.reason);
  await keepHook(pool, name, verdict.items, digestOf(call));
  // Seen in the list of deliveries that most vendors keep: 0 tells a person who sets it up that it is about something else.
  return { httpStatus: 202, body: { status: 'accepted', items: verdict.items.length } };
}

/** Of what the sender has signed: the id of Standard Webhooks, the same over all tries, and the body. */
function digestOf({ headers, body }: HookRequest): string {
  const id = headers['webhook-id'] ?? '';
  return createHash('sha256').update(JSON.stringify(id)).update(body).digest('base64url');
}

function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function headersOf({ headers }: FastifyRequest): HookRequest['headers'] {
  const joined = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(joined);
}

const NO_HOOK = refused(404, 'no target of that name takes calls');

function refused(httpStatus: number, reason: string): Answer {
  return { httpStatus, body: { status: 'refused', reason } };
}
