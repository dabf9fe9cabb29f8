-- When each scheduled sync starts next: one row for all processes.
create table ledger.schedules (
  sync text primary key,
  -- As the settings have it: a changed schedule is planned again.
  schedule jsonb not null,
  due_at timestamptz not null,
  -- When `due_at` was decided; if that is in the future, the clock was set back.
  planned_at timestamptz not null
);

-- Syncs that a person has paused, by name. Their schedules continue, but start nothing.
create table ledger.paused_syncs (
  sync text primary key,
  reason text,
  paused_at timestamptz not null default clock_timestamp()
);

create index runs_of_sync on ledger.runs (sync, created_at desc);
