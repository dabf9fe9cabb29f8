-- Checks that are still owed after a run.
-- A row that was sent again after its outcome was unknown: a commit later than settle would make two records of it. No
-- reference to the run or its row: a debt outlives both.
create table ledger.audit_debts (
  run_id text not null,
  source_id text not null,
  scope text not null,
  resource text not null check (resource in ('customers', 'orders')),
  -- What its record is recognised by: the contact it came from and its keys; an order's customer and order_id.
  contact_id text,
  email text,
  phone text,
  name text,
  org text,
  client_id text,
  label text,
  -- The last time it was decided that the row is sent again; the row itself says when it was sent last.
  doubt_at timestamptz not null default clock_timestamp(),
  settle_ms bigint not null,
  paid_at timestamptz,
  -- The run whose read has paid it, the records that the read found, and what was wrong with them, if anything.
  paid_by text,
  record_ids text[],
  violation text check (violation in ('DUPLICATE', 'LOST')),
  primary key (run_id, source_id)
);
create index audit_debts_open on ledger.audit_debts (scope, resource, client_id) where paid_at is null;
create index audit_debts_found on ledger.audit_debts (paid_by) where violation is not null;
