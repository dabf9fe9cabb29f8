/**
 * Lists, as JSON text made by Postgres: one page, or everything in batches. The items come joined by commas and without
 * brackets, ready to stand in an answer, so that a million records are neither parsed nor held here.
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

/** One page's items. Skips over an index only, so that a far page costs little more than the first. */
export async function page(db: TenantDb, kind: StoredKind, { page, size }: Page, view: ListView): Promise<string> {
  const { table, json } = kinds[kind];
  const order = ordering(view, '$4');
  const [row] = await db.query<{ items: string | null }>(
    `select string_agg(${json}, ',' order by ${order('r.id')}) as items
     from (
       select s.id from ${table} s where s.tenant_id = $1 ${lagging('s', view)} order by ${order('s.id')} limit $2 offset $3
     ) shown
     join ${table} r on r.tenant_id = $1 and r.id = shown.id`,
    [size, page * size, ...salt(view)],
  );
  return row?.items ?? '';
}

/** All items, in batches by id: what was committed when the reading began is in it, and no connection is held between batches. */
export async function* all(db: TenantDb, kind: StoredKind, view: ListView, filter?: Filter): AsyncGenerator<string> {
  const { table, json } = kinds[kind];
  const down = view.order === 'newest';
  const salts = salt(view);
  const values = [...salts, ...(filter?.values ?? [])];
  const parameters = values.map((_, place) => `$${4 + place}`).slice(salts.length);
  const condition = filter === undefined ? '' : `and ${filter.sql(...parameters)}`;
  const sql = `
    select string_agg(${json}, ',' order by ${ordering(view, '$4')('r.id')}) as items,
           ${down ? 'min' : 'max'}(r.id) as last, count(*)::int as rows
    from (
      select * from ${table} r
      where r.tenant_id = $1 and r.id ${down ? '<' : '>'} $2 ${lagging('r', view)} ${condition}
      order by r.id ${down ? 'desc' : 'asc'} limit $3
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

function ordering(view: ListView, salt: string): (id: string) => string {
  if (view.order === 'oldest') return (id) => id;
  if (view.order === 'newest') return (id) => `${id} desc`;
  return (id) => `${id} / ${NEIGHBOURHOOD}, hashint8extended(${id}, ${salt})`;
}

/** Another one for every reading, so that an unstable order differs from the last. */
function salt(view: ListView): number[] {
  return view.order === 'unstable' ? [Math.floor(Math.random() * 2 ** 31)] : [];
}

function lagging(row: string, view: ListView): string {
  return view.lagMs === 0 ? '' : `and ${row}.created_at <= clock_timestamp() - ${view.lagMs} * interval '1 ms'`;
}
