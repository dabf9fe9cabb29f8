-- Whether the process that worked on the run has stopped, and how long the run has been idle so far.
alter table ledger.runs add is_left boolean not null default false, add idle_ms float8 not null default 0;
