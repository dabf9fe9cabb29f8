-- A chunk holds only rows without a recorded attempt, and is deleted with its last row. Finding the rows that a run holds
-- reads a few chunks, instead of every row that was claimed and its attempts.
update ledger.chunks c set rows = array(select h.n from unnest(c.rows) h (n) where not exists (
  select from ledger.attempts a where a.run_id = c.run_id and a.n = h.n and a.chunk_id = c.id));
delete from ledger.chunks where rows = '{}';

-- Appends the outcomes of rows that a claim holds, once each, and returns how many. Writes nothing if the claim is gone.
create or replace function ledger.record_attempts(p_claim bigint, p_run text, p_n bigint[], p_chunk bigint[], p_outcome text[],
    p_action text[], p_sends int[], p_http int[], p_ms int[], p_verdict text[], p_reason text[], p_facts jsonb[])
  returns int
  language sql
  set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off
  set enable_nestloop = off set enable_mergejoin = off as $$
  -- Locks the claim, so that it is not dropped before this commits, and the chunks, so that no row is recorded twice.
  with chunks as materialized (
    select c.id, c.rows from ledger.claims k join ledger.chunks c on c.claim_id = k.id
    where k.id = p_claim and c.id = any(p_chunk) for share of k for update of c
  ), held as materialized (select id, unnest(rows) as n from chunks),
  t as materialized (
    select u.* from unnest(p_n, p_chunk, p_outcome, p_action, p_sends, p_http, p_ms, p_verdict, p_reason, p_facts)
        as u(n, chunk_id, outcome, action, sends, http, ms, verdict, reason, facts)
      join held on held.id = u.chunk_id and held.n = u.n
  ), written as (
    insert into ledger.attempts (run_id, n, chunk_id, outcome, action, sends, http, ms, reason, facts)
    select p_run, n, chunk_id, outcome, action, sends, http, ms, reason, facts from t returning 1
  ), again as (
    insert into ledger.again (run_id, n) select p_run, n from t where outcome = 'unsent' on conflict do nothing
  ), settled as (
    insert into ledger.verdicts (run_id, n, verdict, reason, facts)
    select p_run, n, verdict, reason, facts from t where verdict is not null on conflict do nothing
  ), rest as materialized (
    select held.id, array_agg(held.n) filter (where t.n is null) as rows
    from held left join t on t.chunk_id = held.id and t.n = held.n group by held.id
  ), done as (
    delete from ledger.chunks c using rest where c.id = rest.id and rest.rows is null
  ), shrunk as (
    update ledger.chunks c set rows = rest.rows from rest where c.id = rest.id and rest.rows is not null
  )
  select count(*)::int from written $$;

-- Of an order: its label came as a number, so zeros before it are lost.
alter table ledger.records add is_number boolean;
-- Keys in other letters are looked up once for each read, in one join over all orders.
drop index if exists ledger.order_keys_by_letters;
