/** The frame of every page. */
import { createHash } from 'node:crypto';
import type { Child } from 'hono/jsx';
import type { Person } from './access/people.ts';
import { type AssetName, assetPath } from './assets.ts';
import { type Shown, TABS } from './page.ts';
import { Command } from './parts/parts.tsx';
import { CommandHint, Words } from './parts/words.tsx';

/** A message about the last action, shown once. It stays on the page, so it says what was done, not what is under way. */
export interface Said {
  readonly tone: 'good' | 'bad';
  readonly text: string;
  /** Where the person sees what was done, or undoes it. */
  readonly link?: { readonly path: string; readonly words: string } | undefined;
}

export interface Frame {
  readonly person: Person | undefined;
  /** Whether a person can sign out. */
  readonly hasSession: boolean;
  readonly said: Said | undefined;
  readonly hint: (command: string) => string;
  /** The address of the page, to follow it. */
  readonly address: string;
}

export function renderPage(shown: Shown, frame: Frame): string {
  const { title, tab, command, head, assets, continuesAt, isStill = false } = shown;
  const { html, mark } = renderBody(shown, frame.hint);
  const content = (
    <>
      {frame.said && (
        <p class={`said ${frame.said.tone}`} role="status">
          <Words text={frame.said.text} />
          {frame.said.link && (
            <>
              {' '}
              <a href={frame.said.link.path}>{frame.said.link.words}</a>
            </>
          )}
        </p>
      )}
      {head}
      {continuesAt === undefined ? (
        <div
          id="live"
          data-at={isStill ? undefined : frame.address}
          data-mark={mark}
          dangerouslySetInnerHTML={{ __html: html }}
        />
      ) : (
        <div
          id="live"
          hx-get={continuesAt}
          hx-trigger="load"
          hx-select="#live"
          hx-swap="outerHTML"
          dangerouslySetInnerHTML={{ __html: html }}
        />
      )}
      {command !== undefined && (
        <footer class="same">
          <span>The same on the command line</span>
          <Command line={frame.hint(command)} />
        </footer>
      )}
    </>
  );
  return renderFrame(title, content, { ...frame, ...(assets && { assets }), tab });
}

/** What is read again while the page is open, and a mark of it: while the mark is the same, the page stays as it is. */
export function renderBody(
  { body }: Pick<Shown, 'body'>,
  hint: Frame['hint'],
): { readonly html: string; readonly mark: string } {
  const html = String(
    <CommandHint.Provider value={hint}>
      {/* biome-ignore lint/complexity/noUselessFragments: a body may be a list or null, which only a fragment shows right */}
      <>{body}</>
    </CommandHint.Provider>,
  );
  return { html, mark: createHash('sha256').update(html).digest('base64url').slice(0, 16) };
}

const ASSETS: readonly AssetName[] = ['console.css', 'htmx.js', 'console.js'];

type FrameAround = Pick<Frame, 'person' | 'hasSession' | 'hint'> &
  Pick<Shown, 'tab' | 'assets'> & { readonly reload?: number };

/** A page of its own. `reload`: reads it again after this many seconds, also without scripts. */
export function renderFrame(
  title: string,
  content: Child,
  { person, hasSession, hint, tab, assets = [], reload }: FrameAround,
): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        {reload !== undefined && <meta http-equiv="refresh" content={String(reload)} />}
        <title>{`${title} · Lockstep`}</title>
        <link rel="icon" href={assetPath('icon.svg')} type="image/svg+xml" />
        {[...ASSETS, ...assets].map((name) =>
          name.endsWith('.css') ? (
            <link rel="stylesheet" href={assetPath(name)} />
          ) : (
            <script src={assetPath(name)} defer />
          ),
        )}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href="/">
            <img src={assetPath('icon.svg')} alt="" width="20" height="20" />
            Lockstep
          </a>
          {person && (
            <nav aria-label="Pages">
              {Object.entries(TABS).map(
                ([name, [path, label]]) =>
                  (name !== 'load' || person.role === 'operator') && (
                    <a href={path} aria-current={name === tab ? 'page' : undefined}>
                      {label}
                    </a>
                  ),
              )}
            </nav>
          )}
          {person && hasSession && (
            <form class="person" method="post" action="/logout">
              <span>
                {person.name}
                {person.role === 'viewer' && <small> viewer</small>}
              </span>
              <button type="submit" class="quiet">
                Sign out
              </button>
            </form>
          )}
        </header>
        <p id="away" class="said bad" role="alert" hidden />
        <main id="main">
          <CommandHint.Provider value={hint}>{content}</CommandHint.Provider>
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${page}`;
}

/** htmx neither adds a style to the page nor runs text as a script. */
const HTMX_CONFIG = JSON.stringify({ includeIndicatorStyles: false, allowEval: false, historyCacheSize: 0 });
