-- Retention: rows and runs are deleted by age, and their counts are kept.
-- Rows of the run that were deleted, by verdict; a row without a verdict counts as unknown.
alter table ledger.runs add pruned jsonb not null default '{}';
-- Its unchanged rows were deleted, because newer runs of its sync have ended.
alter table ledger.runs add is_thinned boolean not null default false;
create index runs_by_sync on ledger.runs (sync, created_at);
create index deliveries_ended on ledger.deliveries (ended_at) where state = 'ended';

-- Of runs that were deleted: how many, their calls, and their rows by verdict.
create table ledger.history (
  sync text not null,
  -- The first day of the month, in UTC.
  month date not null,
  -- calls, a verdict, or run: and a status.
  what text not null,
  n bigint not null,
  primary key (sync, month, what)
);
