/**
 * What of Bull Board the console serves: its scripts, styles and reads. Its own server and page are not used: they have routes that
 * change jobs, and inline styles and fonts of another site, which the policy of the console forbids.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { AppControllerRoute, IServerAdapter, UIConfig } from '@bull-board/api/typings/app';
import type { SharedQueue } from '../engine/worker/queue.ts';
import { assetPath } from './assets.ts';

export interface BoardNeeds {
  readonly queue: () => Promise<Pick<SharedQueue, 'bull'>>;
}

export interface Board {
  readonly page: string;
  /** What its scripts ask for at a path below its own; undefined if there is nothing to read. */
  read(path: string, query: Readonly<Record<string, unknown>>): Promise<{ status: number; body: unknown } | undefined>;
  /** One of its scripts, styles or pictures; undefined if there is none. `name`: its path below static/. */
  fileAt(name: string): { readonly type: string; readonly content: Buffer } | undefined;
}

const LOOKS: UIConfig = {
  boardTitle: 'Queues',
  boardLogo: { path: assetPath('icon.svg') },
  locale: { lng: 'en-US' },
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

/** `base`: the address of its page. */
export function openBullBoard(base: string, { queue }: BoardNeeds): Board {
  const { reads, uiConfig } = parts();
  const ui = path.join(path.dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json')), 'dist');
  const statics = path.join(ui, 'static');
  const names = new Set(readdirSync(statics, { recursive: true, encoding: 'utf8' }));
  return {
    page: pageOf(readFileSync(path.join(ui, 'index.ejs'), 'utf8'), base, uiConfig),

    async read(asked, query) {
      for (const { pattern, handler } of reads) {
        const matched = pattern.exec(asked);
        if (matched === null) continue;
        const { groups: params = {} } = matched;
        const jobs = new BullMQAdapter(await (await queue()).bull(), { readOnlyMode: true });
        const queues = new Map([[jobs.getName(), jobs]]);
        const { status = 200, body } = await handler({ queues, uiConfig, params, query, body: {}, headers: {} });
        return { status, body };
      }
      return undefined;
    },

    fileAt(name) {
      const type = TYPES[path.extname(name)];
      if (type === undefined || !names.has(path.normalize(name))) return undefined;
      return { type, content: readFileSync(path.join(statics, name)) };
    },
  };
}

interface Parts {
  readonly uiConfig: UIConfig;
  /** In the order in which they are tried. */
  readonly reads: readonly { readonly pattern: RegExp; readonly handler: AppControllerRoute['handler'] }[];
}

/** What Bull Board gives to a server: here, the routes that only read. */
function parts(): Parts {
  let given: Parts = { reads: [], uiConfig: LOOKS };
  const server: IServerAdapter = {
    setQueues: () => server,
    setViewsPath: () => server,
    setStaticPath: () => server,
    setEntryRoute: () => server,
    setErrorHandler: () => server,
    setUIConfig(uiConfig) {
      given = { ...given, uiConfig };
      return server;
    },
    setApiRoutes(routes) {
      const reading = routes.filter(({ method }) => method === 'get');
      const reads = reading.flatMap(({ route, handler }) =>
        [route].flat().map((url) => ({ pattern: patternOf(url), handler })),
      );
      given = { ...given, reads };
      return server;
    },
  };
  createBullBoard({ queues: [], serverAdapter: server, options: { uiConfig: LOOKS } });
  return given;
}

/** Of a route such as /api/queues/:queueName, with its parts as groups. */
function patternOf(route: string): RegExp {
  return new RegExp(`^${route.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
}

/** Its page without what the policy forbids. `template`: its own page, which names the scripts and styles of this version. */
function pageOf(template: string, base: string, uiConfig: UIConfig): string {
  const named = (pattern: RegExp) => [...template.matchAll(pattern)].map(([, file]) => `${base}/${file}`);
  const styles = [...named(/href="(static\/[^"]+\.css)"/g), assetPath('bull-board.css')];
  const scripts = [assetPath('bull-board.js'), ...named(/src="(static\/[^"]+\.js)"/g)];
  const config = JSON.stringify(uiConfig).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${base}/">
<title>Queues · Lockstep</title>
<link rel="icon" href="${assetPath('icon.svg')}">
${styles.map((url) => `<link rel="stylesheet" href="${url}">`).join('\n')}
</head>
<body>
<script id="__UI_CONFIG__" type="application/json">${config}</script>
<div id="root"><noscript>Bull Board needs scripts. <a href="/queues">Queues</a> shows the jobs without them.</noscript></div>
${scripts.map((url) => `<script defer src="${url}"></script>`).join('\n')}
</body>
</html>`;
}
