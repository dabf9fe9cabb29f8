/** Reading request bodies: JSON or nothing, whatever the method. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Our choice: the contract names no limit. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** A body that could not be read; the error handler turns it into a refusal. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
  readonly statusCode: 400 | 413;

  constructor(statusCode: 400 | 413, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Accepts application/json only; an empty body is none, since some callers always name the type. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) =>
    parseText(text),
  );
}

/** Reads the body of a GET, which Fastify leaves alone: the contract documents one for mark-complete. */
export async function readGetBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(piece);
  }
  return parseText(Buffer.concat(chunks).toString('utf8'));
}

export function tooLarge(): BodyError {
  return new BodyError(413, `body: larger than ${MAX_BODY_BYTES} bytes`);
}

function parseText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BodyError(400, `body: not valid JSON (${error instanceof Error ? error.message : 'unreadable'})`);
  }
}
