-- Rows that change their state at little cost.
-- A row changes its state four times. While no index knows the state, none has to be written for it, and the new
-- version stays on the row's page (a HOT update): with an index of the open rows each change cost twice as much.
drop index if exists ledger.rows_open;
-- Leaves more than half of each page free, because a load updates all its rows at once.
alter table ledger.rows set (fillfactor = 45);
create index rows_in_order on ledger.rows (run_id, n);
-- The run's rows have been claimed up to this one: a hint where to look for ready rows first.
alter table ledger.runs add claimed_to bigint not null default -1;

-- When a row of this ended run that is still unsettled last changed; null if it has none.
alter table ledger.runs add open_since timestamptz;
update ledger.runs u set open_since = (select max(coalesce(since, clock_timestamp())) from ledger.rows
    where run_id = u.id and state in ('intent', 'acked', 'unknown'))
  where status not in ('running', 'paused');

-- No reference: checked for each of a million rows, it would cost as much as the row. Deleting a run deletes its rows.
alter table ledger.rows drop constraint rows_run_id_fkey;
