-- What pages show of a whole run that has ended: reading it again takes seconds if the run is large.

-- Increases whenever rows of an ended run are changed or deleted.
alter table ledger.runs add revision int not null default 0;
create table ledger.run_figures (
  run_id text primary key references ledger.runs on delete cascade,
  -- Of the run when this was read; if it has another one now, this is read again.
  revision int not null,
  -- How many rows have each outcome, with the numbers of the first ones.
  groups jsonb not null,
  -- How many rows were sent in each part of the run's time; null: none.
  sends jsonb
);

-- The runs of the last days and the unfinished ones, which every page reads, without a scan of all runs.
create index runs_ended on ledger.runs (ended_at) where part_of is null and not dry_run;
create index runs_unfinished on ledger.runs (created_at) where status in ('running', 'paused');
