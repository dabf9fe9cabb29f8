/** Reads pipelines with their columns and cards as JSON text, and moves cards. */
import type { SqlId, TenantDb } from './tenant-db.ts';
import { logged } from './writes.ts';

export interface CardMove {
  readonly cardId: number;
  readonly columnId: number;
  /** Position among the column's cards, from 0. Past the end, or absent: last. */
  readonly position?: number;
}

export type Moved = { readonly status: 'moved' } | { readonly status: 'no-card' } | { readonly status: 'no-column' };

/** All pipelines of the tenant, joined by commas. */
export async function pipelineItems(db: TenantDb): Promise<string> {
  const [row] = await db.query<{ items: string | null }>(
    `select string_agg(${PIPELINE}::text, ',' order by r.id) as items from service.pipelines r where r.tenant_id = $1`,
  );
  return row?.items ?? '';
}

/** One pipeline with columns, cards and their comments. */
export async function pipelineDetails(db: TenantDb, id: number): Promise<string | undefined> {
  const [row] = await db.query<{ json: string }>(
    `select (${PIPELINE} || jsonb_build_object('columns', ${list(COLUMNS)}))::text as json
     from service.pipelines r where r.tenant_id = $1 and r.id = $2`,
    [id],
  );
  return row?.json;
}

export async function cardJson(db: TenantDb, id: number): Promise<string | undefined> {
  const sql = `select ${CARD}::text as json from service.cards k where k.tenant_id = $1 and k.id = $2`;
  const [row] = await db.query<{ json: string }>(sql, [id]);
  return row?.json;
}

/** Moves the card within its pipeline and renumbers the cards it passes. */
export function moveCard(db: TenantDb, move: CardMove): Promise<Moved> {
  return db.transaction(async (inside): Promise<Moved> => {
    // Only one move at a time in a pipeline: two concurrent moves would number the cards of a column twice.
    const [pipeline] = await inside.query<{ id: SqlId }>(
      `select p.id from service.cards r
       join service.columns c on c.tenant_id = $1 and c.id = r.column_id
       join service.pipelines p on p.tenant_id = $1 and p.id = c.pipeline_id
       where r.tenant_id = $1 and r.id = $2 for update of p`,
      [move.cardId],
    );
    if (pipeline === undefined) return { status: 'no-card' };
    const target = await inside.query(
      'select id from service.columns where tenant_id = $1 and id = $2 and pipeline_id = $3',
      [move.columnId, pipeline.id],
    );
    if (target.length === 0) return { status: 'no-column' };
    const others = await inside.query<{ id: SqlId }>(
      'select id from service.cards where tenant_id = $1 and column_id = $2 and id <> $3 order by position, id',
      [move.columnId, move.cardId],
    );
    const position = Math.min(move.position ?? others.length, others.length);
    const order = others.map((card) => card.id).toSpliced(position, 0, move.cardId);
    await inside.query(numberSql, [order]);
    await inside.query(moveSql, ['pipelines.moveCard', String(move.columnId), move.cardId, move.columnId]);
    return { status: 'moved' };
  });
}

const numberSql = `
  update service.cards r set position = placed.at - 1
  from unnest($2::bigint[]) with ordinality placed (id, at) where r.tenant_id = $1 and r.id = placed.id`;

const moveSql = logged(
  'update service.cards set column_id = $5, updated_at = now() where tenant_id = $1 and id = $4 returning id',
  'card',
);

const PIPELINE = `jsonb_build_object('id', r.id, 'name', r.name, 'created_at', r.created_at, 'updated_at', r.updated_at)`;

const COMMENTS = `
  select jsonb_agg(to_jsonb(m) order by m.id) from service.comments m
  where m.tenant_id = $1 and m.module_type = 'card' and m.module_id = k.id`;
const CARD = `jsonb_build_object('id', k.id, 'column_id', k.column_id, 'title', k.title, 'position', k.position,
  'contact_id', k.contact_id, 'comments', ${list(COMMENTS)})`;
const CARDS = `
  select jsonb_agg(${CARD} order by k.position, k.id)
  from service.cards k where k.tenant_id = $1 and k.column_id = c.id`;
const COLUMNS = `
  select jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name, 'position', c.position, 'cards', ${list(CARDS)})
    order by c.position, c.id)
  from service.columns c where c.tenant_id = $1 and c.pipeline_id = r.id`;

function list(query: string): string {
  return `coalesce((${query}), '[]'::jsonb)`;
}
