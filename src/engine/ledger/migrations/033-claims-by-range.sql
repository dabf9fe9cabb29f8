-- Takes the next rows of a run that are ready, into a chunk of a claim that is held: first those to be sent again, then the next of
-- the plan. These are mostly neighbours: one scan over their range in each table, instead of a look-up for each row. They were not
-- sent under this plan, so their attempts are not read. The plan of each statement is settled here: without statistics a join reads
-- the whole run for a claim.
create or replace function ledger.claim_rows(p_claim bigint, p_run text, p_most int)
  returns table (chunk_id bigint, n bigint, source_id text, action text, fields jsonb, record_id text, client_id text, sends int)
  language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off set enable_mergejoin = off as $$
  declare
    v_from bigint;
    v_to bigint;
    v_next bigint[]; -- neighbours, never claimed
    v_some bigint[]; -- anywhere, perhaps to be sent again
    v_any boolean;
    v_chunk bigint;
  begin
    -- Claimers of a run one after the other, and none while a claim is being taken over.
    perform from ledger.claims c where c.id = p_claim and c.expires_at > clock_timestamp() for share;
    if not found then return; end if;
    select u.next_n into v_from from ledger.runs u where u.id = p_run and u.status = 'running' for update;
    if not found then return; end if;
    with taken as (delete from ledger.again a where a.run_id = p_run and a.n = any(array(
        select g.n from ledger.again g where g.run_id = p_run order by g.n limit p_most)) returning a.n)
    select array_agg(t.n) into v_some from taken t;
    select array_agg(p.n order by p.n), min(p.n), max(p.n) into v_next, v_from, v_to from (
      select q.n from ledger.plans q where q.run_id = p_run and q.n >= v_from
      order by q.n limit p_most - coalesce(cardinality(v_some), 0)) p;
    if v_next is not null then update ledger.runs set next_n = v_to + 1 where id = p_run; end if;
    if v_to - v_from >= 4 * cardinality(v_next) then
      v_some := v_some || v_next;
      v_next := null;
    end if;
    v_any := v_some is not null or v_next is not null;
    if v_some is not null then
      select array_agg(r.n order by r.n) into v_some from unnest(v_some) r (n)
        where r.n not in (select v.n from ledger.verdicts v where v.run_id = p_run and v.n = any(v_some));
    end if;
    if v_next is not null then
      select array_agg(r.n order by r.n) into v_next from unnest(v_next) r (n)
        where r.n not in (select v.n from ledger.verdicts v where v.run_id = p_run and v.n between v_from and v_to);
    end if;
    if v_some is null and v_next is null then
      if v_any then return query select * from ledger.claim_rows(p_claim, p_run, p_most); end if; -- all of them are settled
      return;
    end if;
    insert into ledger.chunks (claim_id, run_id, rows) values (p_claim, p_run, v_some || v_next) returning id into v_chunk;
    if v_some is not null then
      return query
        with attempts as (
          select distinct on (a.n) a.n, a.id, a.sends from ledger.attempts a where a.run_id = p_run and a.n = any(v_some)
          order by a.n, a.id desc
        )
        select v_chunk, i.n, coalesce(i.source_id, i.n::text), p.action, coalesce(p.fields, i.fields), p.record_id,
          coalesce(m.record_id, i.client_id), case when a.id > p.attempts_before then a.sends else 0 end
        from ledger.inputs i
          join ledger.plans p on p.run_id = p_run and p.n = any(v_some) and p.n = i.n
          left join ledger.matches m on m.run_id = p_run and m.n = any(v_some) and m.kind = 'customer' and m.n = i.n
          left join attempts a on a.n = i.n
        where i.run_id = p_run and i.n = any(v_some) order by i.n;
    end if;
    if v_next is not null then
      return query
        select v_chunk, i.n, coalesce(i.source_id, i.n::text), p.action, coalesce(p.fields, i.fields), p.record_id,
          coalesce(m.record_id, i.client_id), 0
        from unnest(v_next) r (n)
          join ledger.inputs i on i.run_id = p_run and i.n between v_from and v_to and i.n = r.n
          join ledger.plans p on p.run_id = p_run and p.n between v_from and v_to and p.n = r.n
          left join ledger.matches m
            on m.run_id = p_run and m.n between v_from and v_to and m.kind = 'customer' and m.n = r.n
        order by i.n;
    end if;
  end $$;
