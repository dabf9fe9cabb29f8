-- Runs that a process works on, and orders whose order_id a service writes in other letters.
-- When a process that works on the run last said so; long ago: no process does.
alter table ledger.runs add attended_at timestamptz;
-- A service may write o-1 as O-1.
create index order_keys_by_letters on ledger.order_keys (scope, client_id, lower(label));
