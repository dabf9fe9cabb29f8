-- Rows that change their state at little cost.
-- A row changes its state four times. While no index knows the state, none has to be written for it, and the new
-- version stays on the row's page (a HOT update): with an index of the open rows each change cost twice as much.
drop index if exists ledger.rows_open;
-- Room for the whole of a page once more: a load decides about all its rows at once.
alter table ledger.rows set (fillfactor = 45);
create index rows_in_order on ledger.rows (run_id, n);
-- Up to here the run's rows have been claimed; a hint where to look for ready ones first.
alter table ledger.runs add claimed_to bigint not null default -1;

-- Of a run that has ended: when what it left in doubt last moved; null where nothing is.
alter table ledger.runs add open_since timestamptz;
update ledger.runs u set open_since = (select max(coalesce(since, clock_timestamp())) from ledger.rows
    where run_id = u.id and state in ('intent', 'acked', 'unknown'))
  where status not in ('running', 'paused');

-- Looked up for each of a million rows, a reference costs as much as the row: who deletes a run takes its rows along.
alter table ledger.rows drop constraint rows_run_id_fkey;
