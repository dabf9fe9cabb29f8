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

/** Accepts only application/json. An empty body counts as no body, because some callers always send the content type. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseBody(body),
  );
}

/** Reads the body of a GET, which Fastify does not do. The contract documents one for mark-complete. */
export async function readGetBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) throw bodyTooLarge();
    chunks.push(piece);
  }
  return parseBody(Buffer.concat(chunks));
}

export function bodyTooLarge(): BodyError {
  return new BodyError(413, `body: larger than ${MAX_BODY_BYTES} bytes`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Names of members that have a special meaning in JavaScript. */
const HOSTILE_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

function parseBody(body: Buffer): unknown {
  const text = decode(body);
  if (text.trim() === '') return undefined;
  const value = parseText(text);
  const hostile = hostileName(value);
  if (hostile !== undefined) throw new BodyError(400, `body: a member may not be called ${hostile}`);
  return value;
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new BodyError(400, 'body: not valid UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BodyError(400, `body: not valid JSON (${error instanceof Error ? error.message : 'unreadable'})`);
  }
}

/** At any depth, without recursion: a body may be nested deeper than the stack. */
function hostileName(value: unknown): string | undefined {
  const open = [value];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    for (const [name, inner] of Object.entries(one)) {
      if (HOSTILE_NAMES.has(name)) return name;
      open.push(inner);
    }
  }
  return undefined;
}
