-- When nobody works on a run: the process that worked on it has stopped, and how long it was idle so far.
alter table ledger.runs add is_left boolean not null default false, add idle_ms float8 not null default 0;
