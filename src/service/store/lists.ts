/**
 * Lists, as the JSON text that is stored with each record: one page, or everything in batches. The items are joined by
 * commas, without brackets, ready to be put into an answer, so a million records are neither parsed nor held in memory here.
 */
import { kinds, type StoredKind } from './kinds.ts';
import type { SqlId, TenantDb } from './tenant-db.ts';

/** Which records lists show, and in which order. By default a list shows everything, oldest first. */
export interface ListView {
  readonly order: 'oldest' | 'newest' | 'unstable';
  /** Hides records that were created within this time. */
  readonly lagMs: number;
}

export interface Page {
  /** From 0. */
  readonly page: number;
  readonly size: number;
}

/** A condition over a row `r`. `sql` receives the parameters of `values`, such as `$5`. */
export interface Filter {
  readonly sql: (...parameters: string[]) => string;
  readonly values: readonly unknown[];
}

const BATCH_ROWS = 1_000;

/** In an unstable order, records change positions within groups of this many ids. */
const NEIGHBOURHOOD = 50;

/** The items of one page. Earlier rows are skipped in an index, so a distant page costs little more than the first. */
export async function page(db: TenantDb, kind: StoredKind, { page, size }: Page, view: ListView): Promise<string> {
  const { key, direction } = ordering(view);
  const listed = `from ${kinds[kind].table} where tenant_id = $1 ${lagging(view)}`;
  const order = `order by ${key} ${direction}`;
  const [row] = await db.query<{ items: string | null }>(
    `select string_agg(json, ',') as items
     from (
       select json ${listed} and (${key}) ${direction === 'asc' ? '>=' : '<='} (
         select ${key} ${listed} ${order} limit 1 offset $3
       )
       ${order} limit $2
     ) shown`,
    [size, page * size, ...salt(view)],
  );
  return row?.items ?? '';
}

/**
 * All items, in batches by id. The list has everything that was committed when the read began, and no connection is
 * held between batches.
 */
export async function* all(db: TenantDb, kind: StoredKind, view: ListView, filter?: Filter): AsyncGenerator<string> {
  const down = view.order === 'newest';
  const { key, direction } = ordering(view);
  const salts = salt(view);
  const values = [...salts, ...(filter?.values ?? [])];
  const parameters = values.map((_, index) => `$${4 + index}`).slice(salts.length);
  const condition = filter === undefined ? '' : `and ${filter.sql(...parameters)}`;
  const sql = `
    select string_agg(json, ',' order by ${key} ${direction}) as items,
           ${down ? 'min' : 'max'}(id) as last, count(*)::int as rows
    from (
      select id, json from ${kinds[kind].table} r
      where tenant_id = $1 and id ${down ? '<' : '>'} $2 ${lagging(view)} ${condition}
      order by id ${down ? 'desc' : 'asc'} limit $3
    ) r`;
  const read = filter === undefined ? db.query<Batch> : db.planned<Batch>; // the number of matches decides which index is used
  let from: SqlId = down ? '9223372036854775807' : '0';
  for (;;) {
    const [batch]: Batch[] = await read(sql, [from, BATCH_ROWS, ...values]);
    if (batch === undefined || batch.items === null) return;
    yield batch.items;
    if (batch.rows < BATCH_ROWS) return;
    from = batch.last;
  }
}

interface Batch {
  items: string | null;
  last: SqlId;
  rows: number;
}

/** The key and direction of a list's order. `$4` is the salt of an unstable order. */
function ordering({ order }: ListView): { readonly key: string; readonly direction: 'asc' | 'desc' } {
  if (order === 'unstable') return { key: `id / ${NEIGHBOURHOOD}, hashint8extended(id, $4)`, direction: 'asc' };
  return { key: 'id', direction: order === 'newest' ? 'desc' : 'asc' };
}

/** Different for every read, so that an unstable order changes each time. */
function salt({ order }: ListView): number[] {
  return order === 'unstable' ? [Math.floor(Math.random() * 2 ** 31)] : [];
}

function lagging({ lagMs }: ListView): string {
  return lagMs === 0 ? '' : `and created_at <= clock_timestamp() - ${lagMs} * interval '1 ms'`;
}
