/** Styles and scripts of the pages, served from memory; each address changes with its content. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import { perKey } from '../base/per-key.ts';

const require = createRequire(import.meta.url);

/** In the order in which later rules win. */
const STYLE = 'base frame forms notices lists figures charts pages phone load changes records drawer'.split(' ');
const own = (name: string) => new URL(`web/${name}`, import.meta.url);

const FILES = {
  'console.css': { type: 'text/css', files: STYLE.map((name) => own(`style/${name}.css`)) },
  'console.js': { type: 'text/javascript', files: [own('console.js')] },
  'bull-board.css': { type: 'text/css', files: [own('bull-board.css')] },
  'bull-board.js': { type: 'text/javascript', files: [own('bull-board.js')] },
  'board.js': { type: 'text/javascript', files: [own('board.js')] },
  'drawer.js': { type: 'text/javascript', files: [own('drawer.js')] },
  'drop.js': { type: 'text/javascript', files: [own('drop.js')] },
  'icon.svg': { type: 'image/svg+xml', files: [own('icon.svg')] },
  'htmx.js': { type: 'text/javascript', files: [require.resolve('htmx.org/dist/htmx.min.js')] },
  'chart.js': { type: 'text/javascript', files: [own('chart.js')] },
  'uplot.js': { type: 'text/javascript', files: [require.resolve('uplot/dist/uPlot.iife.min.js')] },
  'uplot.css': { type: 'text/css', files: [require.resolve('uplot/dist/uPlot.min.css')] },
} as const;

export type AssetName = keyof typeof FILES;

const assetOf = perKey((name: AssetName) => {
  const content = Buffer.concat(FILES[name].files.map((file) => readFileSync(file)));
  const version = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  return { content, version };
});

export function assetPath(name: AssetName): string {
  return `/assets/${name}?${assetOf(name).version}`;
}

/** They hold nothing secret, so the page for signing in can use them too. */
export function addAssets(app: FastifyInstance): void {
  // Safe: the keys of FILES.
  for (const name of Object.keys(FILES) as AssetName[]) {
    app.get(`/assets/${name}`, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type(`${FILES[name].type}; charset=utf-8`)
        .send(assetOf(name).content),
    );
  }
}
