-- Rows that change their state at little cost.
-- A row changes its state four times. While no index knows the state, none has to be written for it, and the new
-- version stays on the row's page (a HOT update): with an index of the open rows each change cost twice as much.
drop index ledger.rows_open;
-- Room for the whole of a page once more: a load decides about all its rows at once.
alter table ledger.rows set (fillfactor = 45);
create index rows_in_order on ledger.rows (run_id, n);
drop index ledger.records_by_order;
-- Claims ready rows of a run behind a place, in order. The plan is settled here, because statistics of states that pass
-- in seconds lead astray: with them each claim sorted, or joined with, all that was left of the run.
create function ledger.claim_rows(claim bigint, run text, behind bigint, most int) returns setof ledger.rows
  language sql volatile
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off as $$
  with held as (select c.id from ledger.claims c join ledger.runs u on u.id = c.run_id and u.status = 'running'
    where c.id = claim and c.expires_at > clock_timestamp() for share of c),
  picked as (select ctid as place from ledger.rows where run_id = run and state = 'ready' and n > behind
    order by n limit most for update skip locked)
  update ledger.rows r set state = 'intent', claim_id = held.id from held, picked
  where r.ctid = picked.place and r.state = 'ready' returning r.* $$;
-- Up to here the run's rows have been claimed; a hint where to look for ready ones first.
alter table ledger.runs add claimed_to bigint not null default -1;

-- Of a run that has ended: when what it left in doubt last moved; null where nothing is.
alter table ledger.runs add open_since timestamptz;
update ledger.runs u set open_since = (select max(coalesce(since, clock_timestamp())) from ledger.rows
    where run_id = u.id and state in ('intent', 'acked', 'unknown'))
  where status not in ('running', 'paused');

-- Looked up for each of a million rows, a reference costs as much as the row: who deletes a run takes its rows along.
alter table ledger.rows drop constraint rows_run_id_fkey;
alter table ledger.records drop constraint records_run_id_fkey;
create function ledger.forget_run() returns trigger language plpgsql as $$
  begin
    delete from ledger.rows where run_id = old.id;
    delete from ledger.records where run_id = old.id;
    return null;
  end $$;
create trigger forget_run after delete on ledger.runs for each row execute function ledger.forget_run();
