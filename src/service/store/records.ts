/**
 * One tenant's records: the accessor that every request goes through, bound to the tenant of its API key. Handlers have
 * no other access to the database, and no method takes a tenant.
 */
import type pg from 'pg';
import { addComment, type CommentedModule, commentJson } from './comments.ts';
import { containing } from './contact-search.ts';
import { type Imported, type ImportTwice, importContacts } from './customers.ts';
import { kinds, perKind, type StoredKind } from './kinds.ts';
import { all, type ListView, type Page, page } from './lists.ts';
import { type CardMove, cardJson, type Moved, moveCard, pipelineDetails, pipelineItems } from './pipelines.ts';
import { type ItemRow, tenantDb } from './tenant-db.ts';
import { create, type Outcome, update, type Write } from './writes.ts';

/**
 * JSON text is the record as the API shows it; the items of a list are joined by commas. A record of another tenant is
 * `absent` or undefined, exactly like one that never existed.
 */
export interface Records {
  readonly tenantId: number;
  create(kind: StoredKind, write: Write): Promise<Outcome>;
  /** Changes only the given fields. */
  update(kind: StoredKind, id: number, write: Write): Promise<Outcome>;
  get(kind: StoredKind, id: number): Promise<string | undefined>;
  page(kind: StoredKind, page: Page): Promise<string>;
  all(kind: StoredKind): AsyncIterable<string>;
  subtasksOf(taskId: number): AsyncIterable<string>;
  /** Contacts whose name, e-mail or phone contains `term`. */
  searchContacts(term: string): AsyncIterable<string>;
  importContacts(contactIds: readonly number[], twice: ImportTwice): Promise<Imported>;
  /** The new comment's id; undefined if the contact or card does not exist. */
  addComment(module: { type: CommentedModule; id: number }, text: string): Promise<number | undefined>;
  comment(id: number): Promise<string | undefined>;
  pipelines(): Promise<string>;
  pipeline(id: number): Promise<string | undefined>;
  card(id: number): Promise<string | undefined>;
  moveCard(move: CardMove): Promise<Moved>;
}

/** Kept while the service runs, so that concurrent requests share statements. */
export function records(pool: pg.Pool, tenantId: number, view: ListView): Records {
  const db = tenantDb(pool, tenantId);
  return {
    tenantId,
    create: (kind, write) => create(db, kind, write),
    update: (kind, id, write) => update(db, kind, id, write),
    async get(kind, id) {
      const [row] = await db.each<ItemRow & { json: string }>(getSql[kind], id);
      return row?.json;
    },
    page: (kind, wanted) => page(db, kind, wanted, view),
    all: (kind) => all(db, kind, view),
    subtasksOf: (taskId) => all(db, 'subtask', view, { sql: (id) => `r.task_id = ${id}`, values: [taskId] }),
    searchContacts: (term) => all(db, 'contact', view, containing(term)),
    importContacts: (contactIds, twice) => importContacts(db, contactIds, twice),
    addComment: (module, text) => addComment(db, module, text),
    comment: (id) => commentJson(db, id),
    pipelines: () => pipelineItems(db),
    pipeline: (id) => pipelineDetails(db, id),
    card: (id) => cardJson(db, id),
    moveCard: (move) => moveCard(db, move),
  };
}

/** `offset 0` forces the look-up by key, whatever statistics Postgres has when it makes the plan. */
const getSql = perKind(
  (kind) => `
    select at, json from jsonb_array_elements($2::jsonb) with ordinality as sent (wanted, at),
      lateral (select json from ${kinds[kind].table} where tenant_id = $1 and id = wanted::bigint offset 0) found`,
);
