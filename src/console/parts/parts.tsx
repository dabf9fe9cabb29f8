/** Small parts of pages. Text from elsewhere is escaped by the renderer, and shown by `Foreign`. */
import type { Child } from 'hono/jsx';
import { formatCount } from '../../base/counts.ts';
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

interface LinkProps {
  readonly id?: string;
  readonly to: string;
  readonly text: string;
  readonly most: number;
  /** Opens beside this page, if it has `drawer.js`. */
  readonly drawer?: boolean;
}

/** A link whose words come from another system. */
export function Link({ id, to, text, most, drawer }: LinkProps) {
  return (
    <a id={id} href={to} data-drawer={drawer || undefined}>
      <Foreign text={text} most={most} />
    </a>
  );
}

/** The title of a page that comes from another system. */
export function Title({ text, most }: { readonly text: string; readonly most: number }) {
  return (
    <h1>
      <Foreign text={text} most={most} />
    </h1>
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
          <Link id={`up-${path}`} to={path} text={name} most={80} />
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

/** Instead of a later page of a list that has no entries. `to`: the list. */
export function NoMore({ to }: { readonly to: string }) {
  return (
    <Empty title="Nothing follows here">
      <p>
        What followed may have changed or been deleted meanwhile. <a href={to}>Show the list from its beginning</a>
      </p>
    </Empty>
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

/** The address of the same page with other values; undefined removes one. */
export function addressOf(path: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

interface ColumnSpec {
  readonly title: string;
  /** `unseen`: the title is only read aloud. */
  readonly as: 'number' | 'unseen' | 'nowrap';
  /** One of what a number counts: a phone shows it beside the number. */
  readonly unit?: string;
}
type Column = string | ColumnSpec;

const specOf = (column: Column | undefined): Partial<ColumnSpec> =>
  typeof column === 'string' ? { title: column } : (column ?? {});

/** The titles of a table's columns. A column that is false is left out. */
export function Head({ columns }: { readonly columns: readonly (Column | false)[] }) {
  return (
    <thead>
      <tr>
        {columns
          .filter((column) => column !== false)
          .map((column) => {
            const { title, as } = specOf(column);
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

interface TableProps {
  readonly columns: readonly (Column | false)[];
  /** The cells of each row, counts as numbers; those of a column that is false are left out. */
  readonly rows?: readonly (readonly Child[])[];
  /** Rows of another form, instead. */
  readonly children?: Child;
}

/** A list of records; on a phone it is scrolled or folded. */
export function Table({ columns, rows = [], children }: TableProps) {
  return (
    <div class="wide">
      <table class="list">
        <Head columns={columns} />
        <tbody>
          {rows.map((cells) => (
            <tr>{cells.map((cell, i) => columns[i] !== false && <Cell of={columns[i]}>{cell}</Cell>)}</tr>
          ))}
          {children}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ of, children: cell }: { readonly of: Column | undefined; readonly children: Child }) {
  const { as, unit } = specOf(of);
  if (typeof cell !== 'number') return <td class={as === 'unseen' ? undefined : as}>{cell}</td>;
  return (
    <td class={as} data-unit={unit && (cell === 1 ? unit : `${unit}s`)}>
      {formatCount(cell)}
    </td>
  );
}

/** What is known of a thing, by name; what is not known is left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, Child>> }) {
  const known = Object.entries(of).filter(([, fact]) => fact !== undefined && fact !== null && fact !== false);
  return (
    <dl class="facts">
      {known.map(([name, fact]) => (
        <Fact name={name}>{fact}</Fact>
      ))}
    </dl>
  );
}

/** One line of `<dl class="facts">`, what is known of a thing. */
export function Fact({ name, children }: { readonly name: Child; readonly children: Child }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** A list of things that are each a line. */
export function Items({ as, of }: { readonly as: 'notes' | 'inline' | 'comments'; readonly of: readonly Child[] }) {
  return (
    <ul class={as}>
      {of.map((one) => (
        <li>{one}</li>
      ))}
    </ul>
  );
}

/** Link to the next page of a list. */
export function More({ to, label = 'Older' }: { readonly to: string | null | undefined; readonly label?: string }) {
  if (!to) return null;
  return (
    <p class="more">
      <a class="button" href={to} rel="next">
        {label}
      </a>
    </p>
  );
}
