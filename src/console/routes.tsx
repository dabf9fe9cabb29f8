/** The routes of the pages and of their forms. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { VERDICTS } from '../engine/ledger/rows.ts';
import { readRun } from '../engine/ledger/runs.ts';
import { accountPath } from '../operator/page-paths.ts';
import { EXPORT_TITLES, exportedLines, titled } from '../operator/row-export.ts';
import { isOfProgram, requirePerson } from './access/guard.ts';
import { sendFailure } from './api/routes.ts';
import { type Failure, pageFailure } from './failures.ts';
import { addActionForms } from './forms/action-forms.ts';
import { addDeliveryForms } from './forms/delivery-forms.ts';
import { say, takeSaid } from './forms/flash-message.ts';
import { addLinkForms } from './forms/link-forms.ts';
import { addRecordForms } from './forms/record-forms.ts';
import { addReviewForms } from './forms/review-forms.ts';
import { renderFrame, renderPage } from './layout.tsx';
import { type Asked, failedStream, followPage, isStream } from './live/follow.ts';
import { createLive } from './live/live.ts';
import { contextOf, type Page } from './page.ts';
import { account } from './pages/account.tsx';
import { accounts } from './pages/accounts.tsx';
import { activity } from './pages/activity.tsx';
import { approve } from './pages/approve.tsx';
import { board } from './pages/board.tsx';
import { deliveries } from './pages/deliveries.tsx';
import { deliveriesConfirm } from './pages/deliveries-confirm.tsx';
import { delivery } from './pages/delivery.tsx';
import { fix } from './pages/fix.tsx';
import { handCall } from './pages/hand-call.tsx';
import { home } from './pages/home.tsx';
import { links } from './pages/links.tsx';
import { load } from './pages/load.tsx';
import { removeUpload } from './pages/load-remove.tsx';
import { loadSheet } from './pages/load-sheet.tsx';
import { mapping } from './pages/mapping.tsx';
import { plan } from './pages/plan.tsx';
import { queues } from './pages/queues.tsx';
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
import { confirm } from './pages/runs-confirm.tsx';
import { settings } from './pages/settings.tsx';
import { syncs } from './pages/syncs.tsx';
import { target } from './pages/target.tsx';
import { Button } from './parts/inputs.tsx';
import { Empty } from './parts/parts.tsx';
import { Words } from './parts/words.tsx';
import { readGiven } from './read-given.ts';
import type { SharedNeeds } from './shared-needs.ts';

export const PAGES: readonly Page[] = [
  home,
  runs,
  run,
  plan,
  approve,
  fix,
  rows,
  row,
  syncs,
  mapping,
  load,
  loadSheet,
  removeUpload,
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
  target,
  links,
  accounts,
  account,
  settings,
  queues,
];

const HTML = 'text/html; charset=utf-8';
const CSV = 'text/csv; charset=utf-8';
/** A page that could not be read is read again. */
const RELOAD_S = 5;

export function addPages(app: FastifyInstance, needs: SharedNeeds): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  answerFailures(app, needs);
  const live = createLive();
  app.addHook('preClose', () => live.close());
  for (const page of PAGES) {
    app.get(page.path, (request, reply) =>
      isStream(request) ? followPage(needs, live, { page, request, reply }) : show(needs, { page, request, reply }),
    );
  }
  addActionForms(app, needs);
  addReviewForms(app, needs);
  addDeliveryForms(app, needs);
  addRecordForms(app, needs);
  addLinkForms(app, needs);
  app.get('/runs/:run/rows.csv', async (request, reply) => {
    requirePerson(request);
    const { run: id } = readGiven(z.object({ run: z.string() }), request.params);
    const { verdict } = readGiven(z.object({ verdict: z.enum(VERDICTS).optional() }), request.query);
    const lines = exportedLines(needs.pool, await readRun(needs.pool, id), verdict, needs.hint);
    return reply
      .type(CSV)
      .header('content-disposition', 'attachment')
      .send(Readable.from(titled(EXPORT_TITLES, lines)));
  });
}

async function show(needs: SharedNeeds, { page, request, reply }: Asked): Promise<unknown> {
  const person = requirePerson(request);
  const { params, query, url } = request;
  const { hint, people } = needs;
  const shown = await page.show(contextOf(needs, person), { params, query });
  if ('path' in shown) return reply.redirect(shown.path, 303);
  const said = isPart(request) ? undefined : takeSaid(request, reply);
  const html = renderPage(shown, { person, hasSession: !people.isOpen, said, hint, address: url });
  return reply.header('cache-control', 'no-store').type(HTML).send(html);
}

/** Read by htmx, to replace a part of the page that is open. */
function isPart({ headers }: FastifyRequest): boolean {
  return headers['hx-request'] === 'true';
}

function answerFailures(app: FastifyInstance, { database, people, hint }: SharedNeeds): void {
  app.setNotFoundHandler((request, reply) =>
    answer(request, reply, { httpStatus: 404, code: 'NOT_FOUND', message: 'This page does not exist.' }),
  );
  app.setErrorHandler((error, request, reply) => answer(request, reply, pageFailure(error, database), error));

  function answer(request: FastifyRequest, reply: FastifyReply, failure: Failure, error?: unknown): FastifyReply {
    const { httpStatus, code } = failure;
    if (httpStatus >= 500) request.log.error({ err: error, path: request.routeOptions.url }, 'a page cannot be shown');
    if (isStream(request)) return failedStream(request, reply, failure);
    if (isOfProgram(request)) return sendFailure(reply, failure);
    if (code === 'CONSOLE_SIGN_IN') return toLogin(request, reply);
    const { person } = request;
    const isForm = request.method === 'POST';
    const again = httpStatus !== 503 ? undefined : isForm ? 'sent' : 'read';
    const title = titleOf(failure, isForm);
    const back = isForm ? formPath(request) : undefined;
    const html = renderFrame(title, failurePage(failure, { title, again, back }), {
      person,
      hasSession: person !== undefined && !people.isOpen,
      hint,
      tab: undefined,
      ...(again === 'read' && { reload: RELOAD_S }),
    });
    return reply.code(httpStatus).header('cache-control', 'no-store').type(HTML).send(html);
  }
}

/** After signing in, the page follows that was asked for, or that has the form. */
function toLogin(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isRead = request.method === 'GET';
  if (!isRead) say(reply, { tone: 'bad', text: 'You are signed out, so nothing was done. Sign in, then do it again.' });
  const to = isRead ? request.url : formPath(request);
  const login = to === '/' ? '/login' : `/login?${new URLSearchParams({ to })}`;
  if (isPart(request)) return reply.code(401).header('hx-redirect', login).send();
  return reply.redirect(login, 303);
}

/** Guarded: a form comes from a page of the console. */
function formPath({ headers: { referer = '' } }: FastifyRequest): string {
  if (!URL.canParse(referer)) return '/';
  const { pathname, search } = new URL(referer);
  return pathname + search;
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  429: 'Too many tries',
  500: 'Unexpected problem',
  503: 'The database is unavailable',
};

function titleOf({ httpStatus, account }: Failure, isForm: boolean): string {
  if (account !== undefined) return 'The account is suspended';
  return TITLES[httpStatus] ?? (httpStatus === 400 && !isForm ? 'The address is wrong' : 'Not done');
}

interface FailurePage {
  readonly title: string;
  /** How the person continues once the database is back. */
  readonly again: 'read' | 'sent' | undefined;
  /** The page of the form; undefined if none was sent. */
  readonly back: string | undefined;
}

function failurePage({ code, message, account: stopped }: Failure, { title, again, back }: FailurePage) {
  return (
    <Empty title={title} isPage>
      <p data-refused={back !== undefined || undefined}>
        <Words text={message} most={2_000} />
      </p>
      {again === 'read' && <p class="dim">This page tries again every {RELOAD_S} seconds.</p>}
      {again === 'sent' && (
        <p>
          It is not known whether what you sent was done. Wait until the database is back, look at the page again, and
          send it again if it was not done. Activity lists what was done.
        </p>
      )}
      <p class="dim">
        <code>{code}</code>
      </p>
      <p class="acts">
        {stopped !== undefined && <Button to={accountPath(stopped)} label={`See account ${stopped}`} primary />}
        {back !== undefined && back !== '/' && <Button to={back} label="Back to the page" />}
        <Button to="/" label="Home" />
      </p>
    </Empty>
  );
}
