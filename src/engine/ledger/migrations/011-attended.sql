-- Runs that a process works on.
-- When a process that works on the run last said so; long ago: no process does.
alter table ledger.runs add attended_at timestamptz;
