/** The routes of the pages and of their forms. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { LockstepError } from '../base/errors.ts';
import { VERDICTS } from '../engine/ledger/rows.ts';
import { readRun } from '../engine/ledger/runs.ts';
import { csvLine, EXPORT_TITLES, exportedLines } from '../operator/row-export.ts';
import { plural } from '../operator/words.ts';
import { actOnRun, actOnSync, RUN_ACTIONS, SYNC_ACTIONS, tryKeyNow } from './actions.ts';
import { addDeliveryForms } from './delivery-forms.ts';
import { type Failure, failureOf } from './failures.ts';
import { formOf, tell } from './forms.ts';
import { requirePerson } from './guard.ts';
import { renderFrame, renderPage } from './layout.tsx';
import { addLinkForms } from './link-forms.ts';
import type { Loads } from './loads.ts';
import type { ConsoleNeeds } from './needs.ts';
import type { Page, PageContext } from './page.ts';
import { accounts } from './pages/accounts.tsx';
import { activity } from './pages/activity.tsx';
import { approve } from './pages/approve.tsx';
import { board } from './pages/board.tsx';
import { handCall } from './pages/call.tsx';
import { confirm } from './pages/confirm.tsx';
import { deliveries } from './pages/deliveries.tsx';
import { deliveriesConfirm } from './pages/deliveries-confirm.tsx';
import { delivery } from './pages/delivery.tsx';
import { fix } from './pages/fix.tsx';
import { home } from './pages/home.tsx';
import { links } from './pages/links.tsx';
import { load } from './pages/load.tsx';
import { loadSheet } from './pages/load-sheet.tsx';
import { newRecord, record } from './pages/record.tsx';
import { records, recordsOf } from './pages/records.tsx';
import { review } from './pages/review.tsx';
import { reviewConfirm } from './pages/review-confirm.tsx';
import { reviewDecisions } from './pages/review-decisions.tsx';
import { reviewItem } from './pages/review-item.tsx';
import { row } from './pages/row.tsx';
import { rows } from './pages/rows.tsx';
import { run } from './pages/run.tsx';
import { runs } from './pages/runs.tsx';
import { settings } from './pages/settings.tsx';
import { syncs } from './pages/syncs.tsx';
import { Empty } from './parts.tsx';
import type { People } from './people.ts';
import { addRecordForms } from './record-forms.ts';
import { addReviewForms } from './review-forms.ts';
import { say, takeSaid } from './said.ts';

const PAGES: readonly Page[] = [
  home,
  runs,
  run,
  approve,
  fix,
  rows,
  row,
  syncs,
  load,
  loadSheet,
  records,
  recordsOf,
  newRecord,
  record,
  board,
  handCall,
  activity,
  confirm,
  review,
  reviewItem,
  reviewConfirm,
  reviewDecisions,
  deliveries,
  deliveriesConfirm,
  delivery,
  links,
  accounts,
  settings,
];

const HTML = 'text/html; charset=utf-8';
const CSV = 'text/csv; charset=utf-8';
/** A page that could not be read is read again. */
const RELOAD_S = 5;

type PagesNeeds = ConsoleNeeds & { readonly people: People; readonly loads: Loads };

export function addPages(app: FastifyInstance, needs: PagesNeeds): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  answerFailures(app, needs);
  for (const page of PAGES) app.get(page.path, (request, reply) => show(page, needs, request, reply));
  addForms(app, needs);
  addReviewForms(app, needs);
  addDeliveryForms(app, needs);
  addRecordForms(app, needs);
  addLinkForms(app, needs);
  app.get('/runs/:run/rows.csv', async (request, reply) => {
    requirePerson(request);
    const { run: id } = z.object({ run: z.string() }).parse(request.params);
    const { verdict } = z.object({ verdict: z.enum(VERDICTS).optional() }).parse(request.query);
    const lines = csvOf(needs, await readRun(needs.pool, id), verdict);
    return reply.type(CSV).header('content-disposition', 'attachment').send(Readable.from(lines));
  });
}

async function* csvOf({ pool, hint }: PagesNeeds, ...[run, verdict]: CsvOf): AsyncGenerator<string> {
  yield csvLine(EXPORT_TITLES);
  yield* exportedLines(pool, run, verdict, hint);
}

type CsvOf = [run: Parameters<typeof exportedLines>[1], verdict: Parameters<typeof exportedLines>[2]];

async function show(page: Page, needs: PagesNeeds, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const startedAtMs = performance.now();
  const person = requirePerson(request);
  const { params, query, url } = request;
  const { pool, settings, checkSettings, budgets, openAccount, loads, database, hint, people } = needs;
  const context: PageContext = {
    pool,
    settings: settings(),
    checkSettings,
    person,
    budgets,
    openAccount,
    loads,
    database,
    hint,
  };
  const shown = await page.show(context, { params, query });
  const isAgain = request.headers['hx-request'] === 'true';
  if ('path' in shown)
    return isAgain ? reply.header('hx-redirect', shown.path).send() : reply.redirect(shown.path, 303);
  const { html, mark } = renderPage(shown, {
    person,
    hasSession: !people.isOpen,
    said: isAgain ? undefined : takeSaid(request, reply),
    hint,
    address: url,
    tookMs: performance.now() - startedAtMs,
  });
  reply.header('cache-control', 'no-store');
  if (isAgain && request.headers['x-seen'] === mark) return reply.code(204).send();
  return reply.type(HTML).send(html);
}

function addForms(app: FastifyInstance, needs: PagesNeeds): void {
  const runParams = z.object({ run: z.string(), action: z.enum(RUN_ACTIONS) });
  const syncParams = z.object({ sync: z.string(), action: z.enum(SYNC_ACTIONS) });
  app.post('/runs/:run/:action', async (request, reply) => {
    const person = requirePerson(request);
    const { run: id, action } = runParams.parse(request.params);
    await tell(reply, needs, () => actOnRun(needs, { person, via: 'page' }, action, id));
    return reply.redirect(`/runs/${encodeURIComponent(id)}`, 303);
  });
  app.post('/syncs/:sync/:action', async (request, reply) => {
    const person = requirePerson(request);
    const { sync, action } = syncParams.parse(request.params);
    const reason = formOf(request).get('reason')?.trim().slice(0, 200) || undefined;
    const done = await tell(reply, needs, () => actOnSync(needs, { person, via: 'page' }, action, sync, { reason }));
    return reply.redirect(done?.run === undefined ? '/syncs' : `/runs/${done.run}`, 303);
  });
  app.post('/accounts/:account/try-key', async (request, reply) => {
    const person = requirePerson(request);
    const { account } = z.object({ account: z.string() }).parse(request.params);
    await tell(reply, needs, () => tryKeyNow(needs, { person, via: 'page' }, account));
    return reply.redirect('/accounts', 303);
  });
  app.post('/confirm/:action', async (request, reply) => {
    const person = requirePerson(request);
    const { action } = z.object({ action: z.enum(['cancel', 'retry']) }).parse(request.params);
    const ids = formOf(request).getAll('run');
    if (ids.length === 1) {
      const done = await tell(reply, needs, () => actOnRun(needs, { person, via: 'page' }, action, ids[0] ?? ''));
      return reply.redirect(`/runs/${encodeURIComponent(done?.run ?? ids[0] ?? '')}`, 303);
    }
    const refused: string[] = [];
    for (const id of ids) {
      try {
        const done = await actOnRun(needs, { person, via: 'page' }, action, id);
        if (done.refused !== undefined) refused.push(done.said);
      } catch (error) {
        if (!(error instanceof LockstepError)) throw error;
        refused.push(error.message);
      }
    }
    const words = { cancel: 'cancelled', retry: 'retried' }[action];
    const text = [`${plural(ids.length - refused.length, 'run')} ${words}.`, ...refused].join(' ');
    say(reply, { tone: refused.length === 0 ? 'good' : 'bad', text });
    return reply.redirect('/runs', 303);
  });
}

function answerFailures(app: FastifyInstance, { database, people }: PagesNeeds): void {
  app.setNotFoundHandler((request, reply) =>
    answer(request, reply, { httpStatus: 404, code: 'NOT_FOUND', message: 'This page does not exist.' }),
  );
  app.setErrorHandler((error, request, reply) => answer(request, reply, failureOf(error, database), error));

  function answer(request: FastifyRequest, reply: FastifyReply, failure: Failure, error?: unknown): FastifyReply {
    const { httpStatus, code } = failure;
    if (httpStatus >= 500) request.log.error({ err: error, path: request.routeOptions.url }, 'a page cannot be shown');
    if (code === 'CONSOLE_SIGN_IN') return toLogin(request, reply);
    const { person } = request;
    const isAway = httpStatus === 503;
    const html = renderFrame(TITLES[httpStatus] ?? 'Not done', failurePage(failure), {
      person,
      hasSession: person !== undefined && !people.isOpen,
      tab: undefined,
      ...(isAway && request.method === 'GET' && { reload: RELOAD_S }),
    });
    return reply.code(httpStatus).header('cache-control', 'no-store').type(HTML).send(html);
  }
}

function toLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isRead = request.method === 'GET' && request.url !== '/';
  const login = isRead ? `/login?${new URLSearchParams({ to: request.url })}` : '/login';
  if (request.headers['hx-request'] === 'true') return reply.code(401).header('hx-redirect', login).send();
  return reply.redirect(login, 303);
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'The address is wrong',
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many tries',
  500: 'Unexpected problem',
  503: 'The database is unavailable',
};

function failurePage({ httpStatus, code, message }: Failure) {
  return (
    <Empty title={TITLES[httpStatus] ?? 'Not done'} isPage>
      <p>{message}</p>
      {httpStatus === 503 && <p class="dim">This page tries again every {RELOAD_S} seconds.</p>}
      <p class="dim">
        <code>{code}</code>
      </p>
      <p>
        <a class="button" href="/">
          Home
        </a>
      </p>
    </Empty>
  );
}
