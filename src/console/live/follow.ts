/** A page as server-sent events, while it is open. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { personOf, requirePerson } from '../access/guard.ts';
import { type Failure, pageFailure } from '../failures.ts';
import { renderBody } from '../layout.tsx';
import { contextOf, type Page } from '../page.ts';
import { readGiven } from '../read-given.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { type Live, type News, newsEvent, type Reading } from './live.ts';
import { sharedRead } from './shared-reads.ts';

/** How often an open page is read: one on which something is under way, another one, and one that could not be read. */
const BUSY_MS = 1_000;
const IDLE_MS = 5_000;
const AWAY_MS = 2_000;
/** Reading an open page takes at most this share of the time. */
const READ_SHARE = 0.1;
const AWAY = 'The database is unavailable.';
/** A proxy passes each event on at once. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export interface Asked {
  readonly page: Page;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function followPage(needs: SharedNeeds, live: Live, { page, request, reply }: Asked): FastifyReply {
  const person = requirePerson(request);
  const { params, query } = request;
  const path = pathOf(request);
  const { seen = '' } = readGiven(z.object({ seen: z.string().optional() }), query);
  const key = `${person.role} ${path}`;
  const stream = live.follow(key, read, { seen, refusal });
  return reply.headers(HEADERS).send(stream);

  async function read(): Promise<Reading> {
    const startedAtMs = performance.now();
    try {
      const shown = await page.show(contextOf(needs, person), { params, query });
      if ('path' in shown) return { news: { go: shown.path }, nextMs: 0 };
      const { isBusy = false, isStill = false } = shown;
      const leastMs = (performance.now() - startedAtMs) / READ_SHARE;
      return {
        news: { ...renderBody(shown, needs.hint), isStill },
        nextMs: Math.max(isBusy ? BUSY_MS : IDLE_MS, leastMs),
      };
    } catch (error) {
      return { news: newsOf(pageFailure(error, needs.database), path), nextMs: AWAY_MS };
    }
  }

  /** A session that has ended, or that may now do something else, sees the page as it is then. */
  async function refusal(): Promise<News | undefined> {
    const { people, database } = needs;
    const { authorization, cookie } = request.headers;
    try {
      const now = await sharedRead(people, `${authorization} ${cookie}`, () => personOf(request, people), {
        freshMs: BUSY_MS,
      });
      return now?.role === person.role ? undefined : { go: path };
    } catch (error) {
      return newsOf(pageFailure(error, database), path);
    }
  }
}

export function failedStream(request: FastifyRequest, reply: FastifyReply, failure: Failure): FastifyReply {
  return reply.headers(HEADERS).send(newsEvent(newsOf(failure, pathOf(request))));
}

/** What an open page does about a failure: it waits, or shows the page that says what is wrong. */
function newsOf({ httpStatus, message }: Failure, path: string): News {
  return httpStatus >= 500 ? { away: httpStatus === 503 ? AWAY : message } : { go: path };
}

/** The address of a page, without what its stream adds. */
function pathOf({ url }: FastifyRequest): string {
  const { pathname, searchParams } = new URL(url, 'http://console');
  searchParams.delete('seen');
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

export function isStream({ headers }: FastifyRequest): boolean {
  return headers.accept === 'text/event-stream';
}
