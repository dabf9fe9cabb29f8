/**
 * Operations that the web platform has but the API does not (docs/contract.md, "What the service does"): deleting
 * records, and creating pipelines.
 */
import type pg from 'pg';
import { codeOf } from '../base/errors.ts';
import { kinds, perKind, type StoredKind } from './store/kinds.ts';
import { type SqlId, type TenantDb, tenantDb } from './store/tenant-db.ts';
import { logged } from './store/writes.ts';

export interface NewPipeline {
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly cards?: readonly { readonly title: string; readonly contactId?: number }[];
  }[];
}

export interface MadePipeline {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly {
    readonly id: number;
    readonly name: string;
    readonly cards: readonly { readonly id: number; readonly title: string }[];
  }[];
}

export interface PipelineEntry {
  readonly id: number;
  readonly name: string;
  readonly columns: number;
  readonly cards: number;
}

export type DeletableKind = Exclude<StoredKind, 'subtask'>;

/** `in-use`: the customer still has orders, which have to be deleted first. */
export type Deleted = { readonly status: 'deleted' | 'absent' | 'in-use' };

/** Makes a pipeline with its columns and cards, in one transaction. */
export function createPipeline(pool: pg.Pool, tenantId: number, pipeline: NewPipeline): Promise<MadePipeline> {
  return tenantDb(pool, tenantId).transaction(async (db) => {
    const made = 'insert into service.pipelines (tenant_id, name) values ($1, $4) returning id';
    const id = await oneId(db, logged(made, 'pipeline'), ['pipelines.create', pipeline.name, pipeline.name]);
    const columns = [];
    for (const [position, column] of pipeline.columns.entries()) {
      const sql =
        'insert into service.columns (tenant_id, pipeline_id, name, position) values ($1, $2, $3, $4) returning id';
      const columnId = await oneId(db, sql, [id, column.name, position]);
      columns.push({ id: columnId, name: column.name, cards: await createCards(db, columnId, column.cards ?? []) });
    }
    return { id, name: pipeline.name, columns };
  });
}

export async function listPipelines(pool: pg.Pool, tenantId: number): Promise<PipelineEntry[]> {
  const rows = await tenantDb(pool, tenantId).query<{ id: SqlId; name: string; columns: number; cards: number }>(
    `select p.id, p.name, count(distinct c.id)::int as columns, count(k.id)::int as cards
     from service.pipelines p
     left join service.columns c on c.tenant_id = $1 and c.pipeline_id = p.id
     left join service.cards k on k.tenant_id = $1 and k.column_id = c.id
     where p.tenant_id = $1 group by p.id, p.name order by p.id`,
  );
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

/** Deletes a record of the tenant, and with a task its subtasks, with a contact its comments. */
export async function deleteRecord(pool: pg.Pool, tenantId: number, kind: DeletableKind, id: number): Promise<Deleted> {
  try {
    return await tenantDb(pool, tenantId).transaction(async (db) => {
      if (kind === 'contact') await db.query(deleteCommentsSql, [id]);
      const rows = await db.query(deleteSql[kind], [`${kind}s.delete`, null, id]);
      return { status: rows.length === 1 ? 'deleted' : 'absent' };
    });
  } catch (error) {
    const isReferred = ['23503', '23001'].includes(codeOf(error) ?? ''); // foreign key or restrict violation
    if (isReferred) return { status: 'in-use' };
    throw error;
  }
}

const deleteSql = perKind((kind) =>
  logged(`delete from ${kinds[kind].table} where tenant_id = $1 and id = $4 returning id`, kind),
);

const deleteCommentsSql =
  "delete from service.comments where tenant_id = $1 and module_type = 'contact' and module_id = $2";

type NewCards = NonNullable<NewPipeline['columns'][number]['cards']>;

async function createCards(db: TenantDb, columnId: number, cards: NewCards): Promise<{ id: number; title: string }[]> {
  const rows = await db.query<{ id: SqlId; title: string }>(
    `insert into service.cards (tenant_id, column_id, title, contact_id, position)
     select $1, $2, title, contact_id, at - 1
     from unnest($3::text[], $4::bigint[]) with ordinality card (title, contact_id, at) order by at
     returning id, title`,
    [columnId, cards.map((card) => card.title), cards.map((card) => card.contactId ?? null)],
  );
  return rows.map((row) => ({ id: Number(row.id), title: row.title }));
}

async function oneId(db: TenantDb, sql: string, values: readonly unknown[]): Promise<number> {
  const [row] = await db.query<{ id: SqlId }>(sql, values);
  return Number(row?.id);
}
