/**
 * The service's tables. A record's primary key is (tenant, id), so that a parent is found by the key of its own tenant
 * only: the foreign keys refuse an order for another tenant's customer even if a query forgot to ask.
 *
 * What the API's caller sends stays in `fields` (jsonb keeps numbers as numeric, so an amount is never a binary float);
 * what the service itself needs to join on is a column. `commits` is written in the statement that writes the record.
 */
import type pg from 'pg';
import { type Migration, migrate } from '../../database/migrate.ts';

const record = (table: string, columns: string) => `
  create table service.${table} (
    tenant_id  bigint not null references service.tenants (id),
    id         bigint generated always as identity,
    ${columns}
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, id)
  );`;

/** Creates or updates the service's tables; a running service is not needed for it. */
export function migrateService(pool: pg.Pool): Promise<void> {
  return migrate(pool, 'service', migrations);
}

const migrations: readonly Migration[] = [
  {
    name: '001-workspace',
    sql: `
  create table service.tenants (
    id         bigint generated always as identity primary key,
    name       text not null unique,
    created_at timestamptz not null default now()
  );
  create table service.keys (
    id         bigint generated always as identity primary key,
    tenant_id  bigint not null references service.tenants (id),
    key_hash   bytea not null unique,
    label      text,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  );
  ${record('contacts', 'fields jsonb not null, folded jsonb not null,')}
  ${record('customers', 'fields jsonb not null, contact_id bigint,')}
  create index customers_by_contact on service.customers (tenant_id, contact_id) where contact_id is not null;
  ${record(
    'orders',
    `fields jsonb not null, client_id bigint not null,
    foreign key (tenant_id, client_id) references service.customers (tenant_id, id),`,
  )}
  ${record('tasks', 'fields jsonb not null,')}
  ${record(
    'subtasks',
    `fields jsonb not null, task_id bigint not null,
    foreign key (tenant_id, task_id) references service.tasks (tenant_id, id) on delete cascade,`,
  )}
  create index subtasks_by_task on service.subtasks (tenant_id, task_id, id);
  ${record('pipelines', 'name text not null,')}
  ${record(
    'columns',
    `pipeline_id bigint not null, name text not null, position int not null,
    foreign key (tenant_id, pipeline_id) references service.pipelines (tenant_id, id) on delete cascade,`,
  )}
  create index columns_by_pipeline on service.columns (tenant_id, pipeline_id);
  ${record(
    'cards',
    `column_id bigint not null, title text not null, position int not null, contact_id bigint,
    foreign key (tenant_id, column_id) references service.columns (tenant_id, id) on delete cascade,`,
  )}
  create index cards_by_column on service.cards (tenant_id, column_id);
  ${record('comments', 'module_type text not null, module_id bigint not null, comment_text text not null,')}
  create index comments_by_module on service.comments (tenant_id, module_type, module_id);
  create table service.commits (
    seq         bigint generated always as identity primary key,
    tenant_id   bigint not null,
    operation   text not null,
    kind        text not null,
    record_id   bigint not null,
    natural_key text,
    at          timestamptz not null default clock_timestamp()
  );`,
  },
  {
    name: '002-search',
    // Folding as in contact-search.ts. A Postgres without pg_trgm, or that does not let us have it, has no index: searches
    // give the same and take longer.
    sql: `
  update service.contacts set folded = (
    select jsonb_object_agg(name, (
      select string_agg(case when letter = '' or ascii(letter) between 32 and 126 then letter
        else 'X' || translate(lpad(to_hex(ascii(letter)), 6, '0'), '0123456789abcdef', 'ABCDEFGHIJKLMNOP') end, '' order by at)
      from regexp_split_to_table(value, '') with ordinality as letters (letter, at)))
    from jsonb_each_text(folded) as member (name, value))
  where folded::text ~ '[^ -~]|\\\\';
  alter table service.contacts add column searched text not null generated always as (
    coalesce(folded->>'first_name', '') || ' ' || coalesce(folded->>'last_name', '') || E'\\n' ||
    coalesce(folded->>'email', '') || E'\\n' || coalesce(folded->>'phone', '')) stored;
  do $$ begin
    create extension if not exists pg_trgm with schema service;
    execute (
      select format('create index contacts_by_text on service.contacts using gin (searched %I.gin_trgm_ops)', nspname)
      from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm');
  exception when feature_not_supported or undefined_file or insufficient_privilege then null;
  end $$;`,
  },
];
