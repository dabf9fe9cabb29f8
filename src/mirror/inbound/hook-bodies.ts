/**
 * Bodies of calls from outside, as they were sent: a signature is over these bytes. Anyone can send a body, so only a few large
 * ones are held at the same time.
 */
import type { IncomingMessage } from 'node:http';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';

/** GitHub's largest: docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** Hardly any call is larger. */
const SMALL_BYTES = 256 * 1024;
const MOST_LARGE = 4;

export function readHookBodies(scope: FastifyInstance): void {
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
