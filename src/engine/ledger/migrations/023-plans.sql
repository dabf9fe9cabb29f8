-- Plans and approvals: a bound run writes only what a person has seen.

-- Writes that were shown to a person: those of a dry run whose plan is saved, of a run that asks for approval, and of a
-- run that applies a plan (a copy).
create table ledger.shown (
  run_id text not null references ledger.runs on delete cascade,
  -- Its number in the run that showed it.
  n bigint not null,
  -- The id of the contact, or the lines of the file.
  source_id text not null,
  -- SHA-256 of what the row says, and of the write with the record that it changes.
  source bytea not null,
  write bytea not null,
  -- The fields of the record that an update changes, for the plan file.
  was jsonb,
  primary key (run_id, n)
);

-- Plan files that were saved, by the dry run that made them.
create table ledger.plan_files (
  run_id text primary key references ledger.runs on delete cascade,
  -- Of the whole file, in hexadecimal.
  sha256 text not null,
  saved_by text not null
);

-- It writes only what is in ledger.shown.
alter table ledger.runs add is_bound boolean not null default false;
-- User and host that approved what it writes, or applied a plan.
alter table ledger.runs add approved_by text;
alter table ledger.runs add approved_at timestamptz;
