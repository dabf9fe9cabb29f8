/**
 * Bull Board: the jobs as BullMQ has them, for reading. Its own server and page are not used: they have routes that change jobs,
 * and inline styles and fonts of another site, which the policy of the console forbids.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { AppControllerRoute, IServerAdapter, UIConfig } from '@bull-board/api/typings/app';
import type { FastifyInstance } from 'fastify';
import type { SharedQueue } from '../engine/worker/queue.ts';
import { policy, requirePerson } from './access/guard.ts';
import { assetPath } from './assets.ts';

const BOARD = '/queues/board';
/** Its views, which are addresses that a person may open. */
const VIEWS = ['', '/', '/job-schedulers', '/queue/:queueName', '/queue/:queueName/:jobId'];
const LOOKS: UIConfig = {
  boardTitle: 'Queues',
  locale: { lng: 'en-US' },
  boardLogo: { path: assetPath('icon.svg') },
  hideDocsLink: true,
  hideRedisDetails: true,
  miscLinks: [{ text: 'Back to the console', url: '/queues' }],
};
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

export interface BullBoardNeeds {
  readonly queue: () => Promise<Pick<SharedQueue, 'bull'>>;
}

/** `app` is guarded, and shows failures. */
export function addBullBoard(app: FastifyInstance, { queue }: BullBoardNeeds): void {
  const { reads, uiConfig } = partsOfBoard();
  const files = path.join(path.dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')), 'dist');
  const page = pageOf(readFileSync(path.join(files, 'index.ejs'), 'utf8'), uiConfig);
  for (const view of VIEWS)
    app.get(`${BOARD}${view}`, (request, reply) => {
      requirePerson(request);
      const headers = { 'cache-control': 'no-store', 'content-security-policy': policy("'self'") };
      return reply.headers(headers).type('text/html; charset=utf-8').send(page);
    });
  for (const { route, handler } of reads)
    for (const url of [route].flat())
      app.get(`${BOARD}${url}`, async (request, reply) => {
        requirePerson(request);
        const jobs = new BullMQAdapter(await (await queue()).bull(), { readOnlyMode: true });
        const { params, query } = request as { params: Record<string, string>; query: Record<string, string> }; // safe: as parsed
        const queues = new Map([[jobs.getName(), jobs]]);
        const { status = 200, body } = await handler({ queues, uiConfig, params, query, body: {}, headers: {} });
        return reply.code(status).header('cache-control', 'no-store').send(body);
      });
  // They hold nothing secret.
  const statics = path.join(files, 'static');
  for (const file of readdirSync(statics, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[path.extname(file)];
    if (type === undefined) continue;
    app.get(`${BOARD}/static/${file.replaceAll(path.sep, '/')}`, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=86400')
        .type(type)
        .send(readFileSync(path.join(statics, file))),
    );
  }
}

/** What Bull Board gives to a server: here, the routes that only read. */
function partsOfBoard(): { readonly reads: readonly AppControllerRoute[]; readonly uiConfig: UIConfig } {
  let parts: { reads: readonly AppControllerRoute[]; uiConfig: UIConfig } = { reads: [], uiConfig: LOOKS };
  const server: IServerAdapter = {
    setQueues: () => server,
    setViewsPath: () => server,
    setStaticPath: () => server,
    setEntryRoute: () => server,
    setErrorHandler: () => server,
    setUIConfig(uiConfig) {
      parts = { ...parts, uiConfig };
      return server;
    },
    setApiRoutes(routes) {
      parts = { ...parts, reads: routes.filter(({ method }) => method === 'get') };
      return server;
    },
  };
  createBullBoard({ queues: [], serverAdapter: server, options: { uiConfig: LOOKS } });
  return parts;
}

/** Its page without what the policy forbids. `template`: its own page, which names the scripts and styles of this version. */
function pageOf(template: string, uiConfig: UIConfig): string {
  const named = (pattern: RegExp) => [...template.matchAll(pattern)].map(([, file]) => `${BOARD}/${file}`);
  const styles = named(/href="(static\/[^"]+\.css)"/g).map((url) => `<link rel="stylesheet" href="${url}">`);
  const scripts = named(/src="(static\/[^"]+\.js)"/g).map((url) => `<script defer src="${url}"></script>`);
  const config = JSON.stringify(uiConfig).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${BOARD}/">
<title>Queues · Lockstep</title>
<link rel="icon" href="${assetPath('icon.svg')}">
${styles.join('\n')}
</head>
<body>
<script id="__UI_CONFIG__" type="application/json">${config}</script>
<div id="root"><noscript>Bull Board needs scripts. <a href="/queues">Queues</a> shows the jobs without them.</noscript></div>
${scripts.join('\n')}
</body>
</html>`;
}
