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
  -- All rows are staged. Nothing is sent before that.
  is_received boolean not null default false,
  -- The process that stages the rows, and when it last did.
  receiver jsonb not null,
  received_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default now()
);
create index loads_by_file on ledger.loads (account, load_id);

-- The row's cells as in the file, the customer of its order, and the fields that a missing customer would get.
alter table ledger.rows add cells json, add client_id text, add customer jsonb;
-- What the row itself says. Its `fields` are those of the record, overwritten by it.
alter table ledger.rows add own_fields jsonb;
-- The run that this one works for: both are cancelled and resumed together.
alter table ledger.runs add part_of text references ledger.runs on delete set null;
-- What people call the run if it has no sync: the name of the file.
alter table ledger.runs add title text;
create index runs_by_whole on ledger.runs (part_of) where part_of is not null;

-- Which unfinished load owns the key of an order, so that two loads at a time never send one order twice.
create table ledger.order_keys (
  -- The account; of a dry run the run itself, because a dry run blocks no other load.
  scope text not null,
  client_id text not null,
  label text not null,
  -- If this run is gone, the key is free. No reference: it would be checked for each of a million keys.
  run_id text not null,
  primary key (scope, client_id, label)
);
