-- The customers that a contact in review may belong to, as its run saw them: what a person is shown.
create table ledger.evidence (
  run_id text not null references ledger.runs on delete cascade,
  n bigint not null,
  -- By id, each with its keys; null: only the id is known.
  customers jsonb not null,
  primary key (run_id, n)
);

-- What a person decided about a row in review.
create table ledger.decisions (
  id bigint generated always as identity primary key,
  scope text not null,
  kind text not null check (kind in ('contact', 'order')),
  -- The id of the contact; of an order, run/row.
  subject text not null,
  run_id text not null,
  n bigint not null,
  -- Why the row was in review.
  reason text not null,
  choice text not null check (choice in ('use', 'create', 'ignore', 'later')),
  -- The record to use.
  record_id text,
  note text,
  -- User and host, such as ann@office.
  decided_by text not null,
  decided_at timestamptz not null default clock_timestamp(),
  -- The evidence it rests on: the content hash of the contact, and the customers as in ledger.evidence.
  hash text,
  customers jsonb not null default '{}',
  applied_at timestamptz,
  -- The run that applied it first.
  applied_by text,
  undone_at timestamptz,
  -- When it lapsed without being applied, and why.
  lapsed_at timestamptz,
  lapsed_because text
);
-- One decision in force for each subject, and one subject for each customer.
create unique index decisions_in_force on ledger.decisions (scope, kind, subject)
  where undone_at is null and lapsed_at is null and (applied_at is null or choice = 'ignore');
create unique index decisions_of_customers on ledger.decisions (scope, record_id)
  where kind = 'contact' and choice = 'use' and undone_at is null and lapsed_at is null and applied_at is null;
create index decisions_by_time on ledger.decisions (decided_at);
