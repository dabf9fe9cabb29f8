-- The budget of accounts over time, examinations of services, and accounts that a person has suspended.
create table ledger.budget_minutes (
  scope text not null,
  -- Begin of the minute.
  minute timestamptz not null,
  -- Calls that the budget granted, of all processes.
  calls int not null,
  -- Of them, those that the service answered with 429.
  limited int not null,
  -- How long these calls waited for the budget, together.
  waited_ms float8 not null,
  -- The lowest rate of the budget; null if it is not known.
  per_second float8,
  primary key (scope, minute)
);
create index budget_minutes_old on ledger.budget_minutes (minute);

-- The last report of the doctor about a tenant's service.
create table ledger.examinations (
  scope text primary key,
  at timestamptz not null default clock_timestamp(),
  report jsonb not null
);

-- Who suspended the account by hand. Null: its key was refused, and it is tried again.
alter table ledger.suspensions add by_hand text;
