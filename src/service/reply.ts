/** Writes a result to the connection: an answer, or one of the simulated failures. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Answer } from './testbed/dialect.ts';
import type { Served } from './testbed/faults.ts';

/** `silent` collects the connections that will never be answered, so that the service can close them when it stops. */
export function sendServed(reply: FastifyReply, served: Served, silent: Set<Socket>): FastifyReply | Promise<void> {
  switch (served.status) {
    case 'answer':
      return sendAnswer(reply, served.answer);
    case 'broken-off':
      return breakOff(reply, served.answer);
    case 'reset':
      reply.hijack();
      reply.raw.req.socket.resetAndDestroy();
      return reply;
    case 'silence':
      silent.add(reply.raw.req.socket);
      reply.raw.req.socket.once('close', () => silent.delete(reply.raw.req.socket));
      return reply.hijack();
    default:
      return served satisfies never;
  }
}

export function sendAnswer(reply: FastifyReply, { httpStatus, headers, body }: Answer): FastifyReply {
  reply.code(httpStatus).headers(headers);
  return reply.send(typeof body === 'string' ? body : Readable.from(body, { objectMode: true, highWaterMark: 1 }));
}

/** Announces the length of the whole answer, sends its first half, and breaks the connection. */
async function breakOff(reply: FastifyReply, { httpStatus, headers, body }: Answer): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  let whole = '';
  if (typeof body === 'string') whole = body;
  else for await (const chunk of body) whole += chunk;
  const bytes = Buffer.from(whole);
  raw.writeHead(httpStatus, { ...headers, 'content-length': Math.max(bytes.length, 1) });
  raw.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => raw.destroy());
}
