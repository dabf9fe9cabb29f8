/** Small parts of pages. Text from elsewhere is escaped by the renderer, and shown by `Foreign`. */

import type { Child } from 'hono/jsx';
import { shortened } from '../../base/texts.ts';
import { inOneLine } from '../../base/visible.ts';
import type { Tone } from '../../operator/run-words.ts';

/**
 * UTC until the script shows the time of the viewer's zone; UTC stays in the tooltip, with seconds. `exact`: with seconds, on the
 * page of one thing; lists have minutes.
 */
export function Time({ at, exact = false }: { readonly at: Date | string; readonly exact?: boolean }) {
  const iso = new Date(at).toISOString();
  const utc = `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
  return (
    <time datetime={iso} title={utc} data-exact={exact || undefined}>
      {exact ? utc : `${utc.slice(0, 16)} UTC`}
    </time>
  );
}

/** Text of another system: without marks that reverse the direction, and cut after `most` characters. */
export function Foreign({ text, most }: { readonly text: string; readonly most?: number }) {
  const isCut = most !== undefined && text.length > most;
  return (
    <bdi class="foreign" title={isCut ? inOneLine(text.slice(0, 1_000)) : undefined}>
      {inOneLine(isCut ? shortened(text, most) : text)}
    </bdi>
  );
}

interface CrumbsProps {
  /** The name of each page above this one, by its address. */
  readonly to: Readonly<Record<string, string>>;
  /** The name of this page, if no heading has it. */
  readonly here?: string;
}

/** Where the page is: links to the pages above it. */
export function Crumbs({ to, here }: CrumbsProps) {
  return (
    <p class="crumbs">
      {Object.entries(to).map(([path, name], i) => (
        <>
          {i > 0 && ' / '}
          <a id={`up-${path}`} href={path}>
            <Foreign text={name} most={80} />
          </a>
        </>
      ))}
      {here !== undefined && (
        <>
          {' / '}
          <Foreign text={here} most={80} />
        </>
      )}
    </p>
  );
}

/** The command that does the same, ready to copy. */
export function Command({ line }: { readonly line: string }) {
  return (
    <div class="command">
      <code>{line}</code>
      <button type="button" class="copy" data-copy={line} aria-label={`Copy: ${line}`}>
        Copy
      </button>
    </div>
  );
}

export function Chip({ tone, children }: { readonly tone: Tone | 'busy'; readonly children: Child }) {
  return <span class={`chip ${tone}`}>{children}</span>;
}

/** Progress of work whose end is known, 0 to 1. */
export function Progress({ share, words }: { readonly share: number; readonly words: string }) {
  return (
    <div class="progress">
      <progress max="100" value={Math.round(share * 100)} aria-label={words} />
      <span>{words}</span>
    </div>
  );
}

/** What to do where there is nothing to show yet. `isPage`: the page has nothing else. */
export function Empty({ title, isPage, children }: { title: string; isPage?: boolean; children?: Child }) {
  return (
    <div class="empty">
      {isPage ? <h1 class="empty-title">{title}</h1> : <p class="empty-title">{title}</p>}
      {children}
    </div>
  );
}

export function Section({ title, side, children }: { title: Child; side?: Child; children: Child }) {
  return (
    <section>
      <div class="section-head">
        <h2>{title}</h2>
        {side}
      </div>
      {children}
    </section>
  );
}

/** A button that posts at once; what cannot be undone goes through the page that confirms it. */
export function Act({ path, label, primary, plan }: { path: string; label: string; primary?: boolean; plan?: string }) {
  return (
    <form method="post" action={path}>
      {plan !== undefined && <input type="hidden" name="plan" value={plan} />}
      <button type="submit" class={primary ? 'primary' : undefined}>
        {label}
      </button>
    </form>
  );
}

/** The address of the same page with other values; undefined removes one. */
export function addressOf(path: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

type Column = string | { readonly title: string; readonly as: 'number' | 'unseen' };

/** The titles of a table's columns. `unseen`: only read aloud. A column that is false is left out. */
export function Head({ columns }: { readonly columns: readonly (Column | false)[] }) {
  return (
    <thead>
      <tr>
        {columns
          .filter((column) => column !== false)
          .map((column) => {
            const { title, as } = typeof column === 'string' ? { title: column, as: undefined } : column;
            return (
              <th scope="col" class={as === 'number' ? as : undefined}>
                {as === 'unseen' ? <span class="unseen">{title}</span> : title}
              </th>
            );
          })}
      </tr>
    </thead>
  );
}

/** A list of records; on a phone it is scrolled or folded. */
export function Table({
  columns,
  children,
}: {
  readonly columns: readonly (Column | false)[];
  readonly children: Child;
}) {
  return (
    <div class="wide">
      <table class="list">
        <Head columns={columns} />
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** One line of `<dl class="facts">`, what is known of a thing. */
export function Fact({ name, children }: { readonly name: string; readonly children: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Filters by day: the first and the last. */
export function Days({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  return (
    <>
      <label>
        From
        <input type="date" name="from" value={from ?? ''} />
      </label>
      <label>
        To
        <input type="date" name="to" value={to ?? ''} />
      </label>
    </>
  );
}

/** A filter with a choice of values, or any. */
export function Select(given: { label: string; name: string; options: readonly string[]; value: string | undefined }) {
  const { label, name, options, value } = given;
  return (
    <label>
      {label}
      <select name={name}>
        <option value="">any</option>
        {options.map((option) => (
          <option value={option} selected={option === value}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Link to the next page of a list. */
export function More({ to, label = 'Older' }: { readonly to: string | undefined; readonly label?: string }) {
  if (to === undefined) return null;
  return (
    <p class="more">
      <a class="button" href={to} rel="next">
        {label}
      </a>
    </p>
  );
}
