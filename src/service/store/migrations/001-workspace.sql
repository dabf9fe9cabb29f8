-- The service's tables. A record's primary key is (tenant, id), so that a parent is found by the key of its own tenant only: the
-- foreign keys refuse an order for another tenant's customer even if a query forgot to ask. What the API's caller sends stays in
-- fields (jsonb keeps numbers as numeric, so an amount is never a binary float); what the service itself needs to join on is a
-- column. commits is written in the statement that writes the record.
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

create table service.contacts (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  fields jsonb not null, folded jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table service.customers (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  fields jsonb not null, contact_id bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index customers_by_contact on service.customers (tenant_id, contact_id) where contact_id is not null;

create table service.orders (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  fields jsonb not null, client_id bigint not null,
  foreign key (tenant_id, client_id) references service.customers (tenant_id, id),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table service.tasks (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  fields jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table service.subtasks (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  fields jsonb not null, task_id bigint not null,
  foreign key (tenant_id, task_id) references service.tasks (tenant_id, id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index subtasks_by_task on service.subtasks (tenant_id, task_id, id);

create table service.pipelines (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  name text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);

create table service.columns (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  pipeline_id bigint not null, name text not null, position int not null,
  foreign key (tenant_id, pipeline_id) references service.pipelines (tenant_id, id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index columns_by_pipeline on service.columns (tenant_id, pipeline_id);

create table service.cards (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  column_id bigint not null, title text not null, position int not null, contact_id bigint,
  foreign key (tenant_id, column_id) references service.columns (tenant_id, id) on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index cards_by_column on service.cards (tenant_id, column_id);

create table service.comments (
  tenant_id  bigint not null references service.tenants (id),
  id         bigint generated always as identity,
  module_type text not null, module_id bigint not null, comment_text text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, id)
);
create index comments_by_module on service.comments (tenant_id, module_type, module_id);
create table service.commits (
  seq         bigint generated always as identity primary key,
  tenant_id   bigint not null,
  operation   text not null,
  kind        text not null,
  record_id   bigint not null,
  natural_key text,
  at          timestamptz not null default clock_timestamp()
);
