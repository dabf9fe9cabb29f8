/**
 * Lists, as the JSON text that is stored with each record: one page, or everything in batches. The items come joined by
 * commas and without brackets, ready to stand in an answer, so that a million records are neither parsed nor held here.
 */
import { kinds, type StoredKind } from './kinds.ts';
import type { SqlId, TenantDb } from './tenant-db.ts';

/** How lists show the store; the honest service shows everything, oldest first. */
export interface ListView {
  readonly order: 'oldest' | 'newest' | 'unstable';
  /** Hides what was created less than so long ago. */
  readonly lagMs: number;
}

export interface Page {
  /** From 0. */
  readonly page: number;
  readonly size: number;
}

/** A condition over a row `r`; `sql` is given the parameters that stand for `values`, such as `$5`. */
export interface Filter {
  readonly sql: (...parameters: string[]) => string;
  readonly values: readonly unknown[];
}

const BATCH_ROWS = 1_000;

/** Records that change places do so within neighbourhoods of so many ids. */
const NEIGHBOURHOOD = 50;

/** One page's items: skips over an index only to the first, so that a far page costs little more than the first page. */
export async function page(db: TenantDb, kind: StoredKind, { page, size }: Page, view: ListView): Promise<string> {
  const { key, direction } = ordering(view, '$4');
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

/** All items, in batches by id: what was committed when the reading began is in it, and no connection is held between batches. */
export async function* all(db: TenantDb, kind: StoredKind, view: ListView, filter?: Filter): AsyncGenerator<string> {
  const down = view.order === 'newest';
  const { key, direction } = ordering(view, '$4');
  const salts = salt(view);
  const values = [...salts, ...(filter?.values ?? [])];
  const parameters = values.map((_, place) => `$${4 + place}`).slice(salts.length);
  const condition = filter === undefined ? '' : `and ${filter.sql(...parameters)}`;
  const sql = `
    select string_agg(json, ',' order by ${key} ${direction}) as items,
           ${down ? 'min' : 'max'}(id) as last, count(*)::int as rows
    from (
      select id, json from ${kinds[kind].table} r
      where tenant_id = $1 and id ${down ? '<' : '>'} $2 ${lagging(view)} ${condition}
      order by id ${down ? 'desc' : 'asc'} limit $3
    ) r`;
  const read = filter === undefined ? db.query<Batch> : db.planned<Batch>; // how much it matches decides on the index
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

/** What a list is ordered by, and which way; `salt` is the parameter that makes an unstable order differ from the last. */
function ordering({ order }: ListView, salt: string): { readonly key: string; readonly direction: 'asc' | 'desc' } {
  if (order === 'unstable') return { key: `id / ${NEIGHBOURHOOD}, hashint8extended(id, ${salt})`, direction: 'asc' };
  return { key: 'id', direction: order === 'newest' ? 'desc' : 'asc' };
}

/** Another one for every reading. */
function salt({ order }: ListView): number[] {
  return order === 'unstable' ? [Math.floor(Math.random() * 2 ** 31)] : [];
}

function lagging({ lagMs }: ListView): string {
  return lagMs === 0 ? '' : `and created_at <= clock_timestamp() - ${lagMs} * interval '1 ms'`;
}
