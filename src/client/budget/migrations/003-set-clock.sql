-- The row of a key, locked until the transaction ends, so that decisions on one key follow one another.
create or replace function budget.locked(p_key text) returns budget.keys language plpgsql as $$
declare
  found_key budget.keys;
  back double precision;
begin
  loop
    select * into found_key from budget.keys k where k.key = p_key for update;
    exit when found;
    insert into budget.keys (key) values (p_key) on conflict do nothing;
    -- A long Retry-After outlives a crash; none is longer than 15 minutes.
    update budget.keys k set
      rate_at_cut = l.rate_at_cut, recover_from = l.recover_from, grown = l.grown,
      blocked_until = case when l.recover_from > l.now then l.recover_from end
    from (select key, rate_at_cut, grown, now, least(recover_from, now + 900000000) as recover_from
      from budget.learnt, budget.now_us() as now) l
    where k.key = p_key and l.key = p_key and k.counted_until = 0 and k.rate_at_cut = 0;
  end loop;
  back := found_key.counted_until - budget.now_us();
  if back > 0 then
    update budget.keys k set
      tat = k.tat - back, interactive_turns = k.interactive_turns - back, batch_turns = k.batch_turns - back,
      share_at = k.share_at - back, blocked_until = k.blocked_until - back, recover_from = k.recover_from - back,
      waited_for_until = k.waited_for_until - back, counted_until = k.counted_until - back,
      bound_until = k.bound_until - back
    where k.key = p_key returning * into found_key;
    update budget.holders h
      set since = least(h.since, found_key.counted_until), expires_at = found_key.counted_until + 15000000
    where h.key = p_key and h.expires_at > found_key.counted_until + 15000000;
  end if;
  return found_key;
end $$;

create or replace function budget.block(p_key text, p_for double precision) returns void language plpgsql as $$
declare
  before budget.keys := budget.locked(p_key);
  now_us double precision := budget.now_us();
begin
  update budget.keys k set blocked_until = greatest(k.blocked_until, now_us + p_for), counted_until = now_us,
    grown = budget.grown_until(before, coalesce(before.blocked_until, now_us), now_us)
  where k.key = p_key;
end $$;

create or replace function budget.retry(
  p_key text, p_successes double precision,
  out is_granted boolean, out retry_in_us double precision, out now_us double precision
) language plpgsql as $$
declare
  before budget.keys := budget.locked(p_key);
  tenths double precision;
begin
  now_us := budget.now_us();
  tenths := least(1000, before.retries + p_successes);
  if tenths < 10 then tenths := least(10, tenths + greatest(0, now_us - before.retry_asked) / 1000000); end if;
  is_granted := tenths >= 10 - 0.001::double precision;
  retry_in_us := case when is_granted then 0 else (10 - tenths) * 1000000 end;
  if is_granted then tenths := greatest(0, tenths - 10); end if;
  update budget.keys k set retries = tenths, retry_asked = now_us where k.key = p_key;
end $$;
