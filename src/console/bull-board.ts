/** The routes of Bull Board, which shows the jobs as BullMQ has them, for reading. Its packages are loaded when it is first opened. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { policy, requirePerson } from './access/guard.ts';
import type { Board, BoardNeeds } from './open-bull-board.ts';
import { readGiven } from './read-given.ts';

const BOARD = '/queues/board';
/** Its views, which are addresses that a person may open. */
const VIEWS = ['', '/', '/job-schedulers', '/queue/:queueName', '/queue/:queueName/:jobId'];

const below = z.object({ '*': z.string() });

/** `app` is guarded, and shows failures. */
export function addBullBoard(app: FastifyInstance, needs: BoardNeeds): void {
  let opened: Promise<Board> | undefined;
  const board = () =>
    (opened ??= import('./open-bull-board.ts').then(({ openBullBoard }) => openBullBoard(BOARD, needs)));
  for (const view of VIEWS)
    app.get(`${BOARD}${view}`, async (request, reply) => {
      requirePerson(request);
      const headers = { 'cache-control': 'no-store', 'content-security-policy': policy("'self'") };
      return reply
        .headers(headers)
        .type('text/html; charset=utf-8')
        .send((await board()).page);
    });
  app.get(`${BOARD}/api/*`, async (request, reply) => {
    requirePerson(request);
    const query = readGiven(z.record(z.string(), z.unknown()), request.query);
    const read = await (await board()).read(`/api/${readGiven(below, request.params)['*']}`, query);
    if (read === undefined) return reply.callNotFound();
    return reply.code(read.status).header('cache-control', 'no-store').send(read.body);
  });
  // They hold nothing secret.
  app.get(`${BOARD}/static/*`, async (request, reply) => {
    const file = (await board()).fileAt(readGiven(below, request.params)['*']);
    if (file === undefined) return reply.callNotFound();
    return reply.header('cache-control', 'public, max-age=86400').type(file.type).send(file.content);
  });
}
