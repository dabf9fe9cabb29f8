/**
 * Lists that ignore page numbers and continue in another way: by an offset, by the cursor or link that each answer gives, or by
 * the id of its last record. All are read as numbered pages, so that the same passes read all lists. Source: our choice; the contract knows page
 * numbers only (docs/gaps.md, "unpaged-lists").
 */
import type { Query } from './beside.ts';
import { isPageRefused } from './missing-page.ts';
import type { PassSource, ScannedRecord } from './pass.ts';
import { type Answers, isPageSize, type Page } from './scan-pages.ts';
import { idsOf } from './window.ts';

/** Reads the page of this number and size, or, with `instead`, the page that these parameters name. */
export type ReadPage<R> = (page: number, size: number, instead?: Query) => Promise<Page<R>>;

export type Continuation =
  | { readonly by: 'offset'; readonly parameter: string }
  /** By the id of the last record of the page before. */
  | { readonly by: 'id'; readonly parameter: string }
  | { readonly by: 'links' }
  /** The service says that more records follow, but no known way leads to them. */
  | { readonly by: 'nothing' };

export const OFFSET_PARAMETERS = ['offset', 'skip', 'start'];
const ID_PARAMETERS = ['starting_after', 'after', 'after_id', 'since_id', 'last_id'];

export interface Continuing<R> {
  readonly read: ReadPage<R>;
  readonly answers: Answers<R>;
  readonly size: number;
}

/**
 * How a list continues whose pages are all `first`; undefined if that is the whole list, as far as the answer says. A list
 * with as many records as a page may continue without a sign.
 */
export async function findContinuation<R extends { readonly id: string }>(
  { read, answers, size }: Continuing<R>,
  first: readonly R[],
): Promise<Continuation | undefined> {
  const isPart = answers.isPart(first);
  if (!isPart && !isPageSize(first.length)) return undefined;
  const next = answers.next(first) ?? {};
  const known = new Set(idsOf(first));
  const readOther = async (query: Query) => {
    const { records } = await read(0, size, query).catch(emptyIfRefused);
    return { records, hasNew: records.some(({ id }) => !known.has(id)) };
  };
  const given = Object.keys(next);
  const named = given.filter((name) => String(next[name]) === String(first.length));
  const hasLink = async () => {
    if (given.length === 0) return false;
    const { records, hasNew } = await readOther(next);
    return hasNew || records.length === 0;
  };
  // A link that counts in another way knows better: the page may lack rows that the service hides.
  if (named.length === 0 && (await hasLink())) return { by: 'links' };
  for (const parameter of new Set([...named, ...OFFSET_PARAMETERS])) {
    const { records, hasNew } = await readOther({ [parameter]: first.length });
    // Pages may lack records, so the number of records is at most the offset of the next page: some may be known.
    if (hasNew && records[0]?.id !== first[0]?.id) return { by: 'offset', parameter };
  }
  if (!isPart) return undefined;
  for (const parameter of ID_PARAMETERS) {
    const { records, hasNew } = await readOther(afterId<R>(parameter)(first, first.length) ?? {});
    if (hasNew && !records.some(({ id }) => known.has(id))) return { by: 'id', parameter };
  }
  return { by: named.length > 0 && (await hasLink()) ? 'links' : 'nothing' };
}

/** The reason for a list of which only the first page can be read. */
export function unreachable(rows: number): string {
  return (
    `the list may have more than these ${rows} records, and no page number, offset or link of the service leads to them: if the ` +
    'service has a page parameter of another name, set it in the account’s dialect.pageParam; otherwise the list has to be fixed at the service'
  );
}

const ONE_BY_ONE = 'each page of the list is found by the page before, so pages cannot overlap';

/** What a pass over a list knows that continues in this way: pages by offset may share records. */
export function passBy(by: Continuation['by'] | undefined): Pick<
  PassSource<ScannedRecord>,
  'mayOverlap' | 'isNumbered'
> & {
  readonly reason?: string;
} {
  return {
    mayOverlap: by === 'offset',
    isNumbered: by === undefined,
    ...((by === 'links' || by === 'id') && { reason: ONE_BY_ONE }),
  };
}

/** Pages of exactly the requested size, or the rest of the list: windows may overlap. */
export function byOffset<R>({ read, answers }: Continuing<R>, parameter: string) {
  return async (page: number, size: number): Promise<readonly R[]> => {
    const { records, beside } = await read(0, size, { [parameter]: page * size });
    return answers.take({ records: records.slice(0, size), beside });
  };
}

/** The parameters of the page after these records, which end at `position`. */
type After<R> = (records: readonly R[], position: number) => Query | undefined;

function offsetAfter<R>(parameter: string): After<R> {
  return (records, position) => (records.length === 0 ? undefined : { [parameter]: position });
}

function afterId<R extends { readonly id: string }>(parameter: string): After<R> {
  return (records) => {
    const last = records.at(-1);
    return last === undefined ? undefined : { [parameter]: last.id };
  };
}

/** Pages of the service's own size, one after another. */
export function oneByOne<R extends { readonly id: string }>(
  { read, answers, size }: Continuing<R>,
  continues: Exclude<Continuation, { readonly by: 'nothing' }>,
) {
  const after: After<R> =
    continues.by === 'links'
      ? (records) => answers.next(records)
      : (continues.by === 'id' ? afterId : offsetAfter)<R>(continues.parameter);
  const starts: { readonly query: Query | undefined; readonly position: number }[] = [
    { query: undefined, position: 0 },
  ];
  return async (page: number): Promise<readonly R[]> => {
    const start = starts[page];
    if (start === undefined) return [];
    const records = answers.take(await read(0, size, start.query));
    const position = start.position + records.length;
    const query = after(records, position);
    if (query !== undefined && Object.keys(query).length > 0) starts[page + 1] = { query, position };
    else {
      starts.length = page + 1;
      if (query !== undefined) answers.endOpen('an answer says that more records follow, but not how to read them');
    }
    return records;
  };
}

function emptyIfRefused(error: unknown): { readonly records: readonly never[] } {
  if (isPageRefused(error)) return { records: [] };
  throw error;
}
