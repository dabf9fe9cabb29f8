-- Runs, claims, rows, records, links, snapshots, and what was learnt about a service.
create table ledger.runs (
  id text primary key,
  sync text not null,
  job text not null,
  account text not null,
  -- What the run writes at the service; one unfinished run per account and resource (assumption A4).
  resource text not null,
  lane text not null,
  dry_run boolean not null,
  options jsonb not null,
  status text not null check (status in ('running', 'paused', 'done', 'failed', 'cancelled')),
  -- The job that continues the run; null once the run has ended.
  phase text,
  -- How far the phase is, written in the same transaction as the rows it covers.
  checkpoint jsonb not null default '{}',
  notes jsonb not null default '[]',
  scan text check (scan in ('proven', 'weak', 'unproven')),
  rows_seen bigint not null default 0,
  rows_settled bigint not null default 0,
  read_backs int not null default 0,
  calls bigint not null default 0,
  limited bigint not null default 0,
  -- Rows by verdict, kept when the run ends.
  counts jsonb,
  error_code text,
  error text,
  -- Since when calls have failed without a success in between; null while calls succeed.
  trouble_since timestamptz,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create unique index runs_one_per_sync on ledger.runs (sync)
  where status in ('running', 'paused') and not dry_run;
create index runs_newest on ledger.runs (created_at desc);

-- A process's right to work on a run. Every write names it: a claim that has expired writes nothing.
create table ledger.claims (
  id bigint generated always as identity primary key,
  run_id text not null references ledger.runs on delete cascade,
  worker jsonb not null,
  -- A run with an exclusive claim (scan, settle) has no second claim.
  exclusive boolean not null,
  expires_at timestamptz not null
);
create index claims_by_run on ledger.claims (run_id);
create unique index claims_one_exclusive on ledger.claims (run_id) where exclusive;

create table ledger.rows (
  run_id text not null references ledger.runs on delete cascade,
  source_id text not null,
  n bigint not null,
  state text not null check (state in ('staged', 'ready', 'intent', 'acked', 'unknown', 'settled')),
  action text check (action in ('import', 'create', 'update')),
  verdict text check (verdict in ('created', 'updated', 'unchanged', 'existing', 'invalid', 'rejected', 'review', 'unknown')),
  reason text,
  detail text,
  label text,
  email text,
  phone text,
  name text,
  org text,
  hash text,
  fields jsonb,
  record_id text,
  pass int not null default 1,
  sends int not null default 0,
  claim_id bigint,
  since timestamptz,
  primary key (run_id, source_id)
) with (fillfactor = 70);
-- What must not be sent again in later runs.
create index rows_not_found on ledger.rows (source_id) where reason in ('NOT_RECOGNISED', 'NOT_IN_LIST');

create table ledger.links (
  account text not null,
  kind text not null,
  source_id text not null,
  record_id text not null,
  -- Content hash of what was last updated or compared; null: nothing yet.
  hash text,
  run_id text not null,
  linked_at timestamptz not null default now(),
  primary key (account, kind, source_id)
);
create unique index links_by_record on ledger.links (account, kind, record_id);

-- What was learnt about an account's service and is worth keeping: prefixes, whether import works.
create table ledger.learnt (
  account text not null,
  name text not null,
  value jsonb not null,
  at timestamptz not null default now(),
  primary key (account, name)
);
