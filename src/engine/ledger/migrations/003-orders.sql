-- Loads of orders.
-- One CSV file on its way to become orders. What came from the file is json, not jsonb: it keeps any character.
create table ledger.loads (
  run_id text primary key references ledger.runs on delete cascade,
  account text not null,
  load_id text not null,
  file_name text not null,
  sha256 text not null,
  bytes bigint not null,
  header json not null,
  -- How the file was read, to write its results in the same form.
  form json not null,
  -- All rows are staged; nothing is sent before.
  is_received boolean not null default false,
  -- Who stages the rows, and when it was last at it.
  receiver jsonb not null,
  received_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default now()
);
create index loads_by_file on ledger.loads (account, load_id);

-- The row's cells as the file has them; the customer its order belongs to, and what one would be created with.
alter table ledger.rows add cells json, add client_id text, add customer jsonb;
-- What the row itself says, where its fields are that over what the record said.
alter table ledger.rows add own_fields jsonb;
-- The run that this one works for: they are cancelled and taken up together.
alter table ledger.runs add part_of text references ledger.runs on delete set null;
-- What people call it, where no sync of the settings names it: a file.
alter table ledger.runs add title text;
create index runs_by_whole on ledger.runs (part_of) where part_of is not null;

-- Which load an order's key belongs to while it is unfinished: loads side by side never send one order twice.
create table ledger.order_keys (
  -- The account; of a dry run, which stands in nobody's way, the run.
  scope text not null,
  client_id text not null,
  label text not null,
  -- Of a run that is gone: anybody's. No reference, which would be looked up for each of a million keys.
  run_id text not null,
  primary key (scope, client_id, label)
);
