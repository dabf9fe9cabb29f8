/** Comments on contacts and on cards. The API can add them, and shows a card's comments with its pipeline. */
import { CARD_MODULE, CONTACT_MODULE } from '../../contract/records.ts';
import type { TenantDb } from './tenant-db.ts';
import { creating, type IdRow } from './writes.ts';

export type CommentedModule = typeof CONTACT_MODULE | typeof CARD_MODULE;

/** Writes the comment and returns its id; undefined if the tenant has no such contact or card. */
export async function addComment(
  db: TenantDb,
  module: { readonly type: CommentedModule; readonly id: number },
  text: string,
): Promise<number | undefined> {
  const item = { operation: operations[module.type], naturalKey: String(module.id), ...module, text };
  const [row] = await db.each<IdRow>(addSql[module.type], item);
  return row === undefined ? undefined : Number(row.id);
}

export async function commentJson(db: TenantDb, id: number): Promise<string | undefined> {
  const [row] = await db.query<{ json: string }>(
    `select to_jsonb(r)::text as json from service.comments r where tenant_id = $1 and id = $2`,
    [id],
  );
  return row?.json;
}

const operations = { [CONTACT_MODULE]: 'contacts.comment', [CARD_MODULE]: 'pipelines.comment' } as const;

const addSql = { [CONTACT_MODULE]: adding('service.contacts'), [CARD_MODULE]: adding('service.cards') } as const;

function adding(table: string): string {
  const values = { module_type: "item->>'type'", module_id: "(item->>'id')::bigint", comment_text: "item->>'text'" };
  return creating(
    'comment',
    values,
    `select item, at from jsonb_array_elements($2::jsonb) with ordinality as sent (item, at)
     where exists (select from ${table} where tenant_id = $1 and id = (item->>'id')::bigint)`,
  );
}
