/**
 * Lists, as JSON text made by Postgres: one page, or everything in batches. The items are joined by commas, without
 * brackets, ready to be put into an answer, so a million records are neither parsed nor held in memory here.
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

/**
 * All items, in batches by id. The list has everything that was committed when the read began, and no connection is
 * held between batches.
 */
export async function* all(db: TenantDb, kind: StoredKind, view: ListView, filter?: Filter): AsyncGenerator<string> {
  const { table, json } = kinds[kind];
  const down = view.order === 'newest';
  const salts = salt(view);
  const values = [...salts, ...(filter?.values ?? [])];
  const parameters = values.map((_, index) => `$${4 + index}`).slice(salts.length);
  const condition = filter === undefined ? '' : `and ${filter.sql(...parameters)}`;
  const sql = `
    select string_agg(${json}, ',' order by ${ordering(view, '$4')('r.id')}) as items,
           ${down ? 'min' : 'max'}(r.id) as last, count(*)::int as rows
    from (
      select * from ${table} r
      where r.tenant_id = $1 and r.id ${down ? '<' : '>'} $2 ${lagging('r', view)} ${condition}
      order by r.id ${down ? 'desc' : 'asc'} limit $3
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

function ordering(view: ListView, salt: string): (id: string) => string {
  if (view.order === 'oldest') return (id) => id;
  if (view.order === 'newest') return (id) => `${id} desc`;
  return (id) => `${id} / ${NEIGHBOURHOOD}, hashint8extended(${id}, ${salt})`;
}

/** Different for every read, so that an unstable order changes each time. */
function salt(view: ListView): number[] {
  return view.order === 'unstable' ? [Math.floor(Math.random() * 2 ** 31)] : [];
}

function lagging(row: string, view: ListView): string {
  return view.lagMs === 0 ? '' : `and ${row}.created_at <= clock_timestamp() - ${view.lagMs} * interval '1 ms'`;
}
