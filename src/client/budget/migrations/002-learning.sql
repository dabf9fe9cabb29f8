alter table budget.keys
  add rate_at_cut double precision not null default 0,
  add recover_from double precision not null default 0,
  add grown double precision not null default 0,
  add waited_for_until double precision not null default 0,
  add counted_until double precision not null default 0,
  add bound_rate double precision not null default 0,
  add bound_until double precision not null default 0,
  add retries double precision not null default 1000,
  add retry_asked double precision not null default 0;

-- Logged, so that a crash does not lose what took minutes and 429s to learn; written only at cuts and as a discovered rate grows.
create table budget.learnt (
  key text primary key,
  rate_at_cut double precision not null,
  recover_from double precision not null,
  grown double precision not null
);

-- Unlogged: after a crash each process tells again what it holds.
create unlogged table budget.holders (
  key text not null,
  holder text not null,
  seq double precision not null,
  slots double precision not null,
  wanted double precision not null,
  since double precision not null,
  expires_at double precision not null,
  primary key (key, holder)
) with (fillfactor = 50);

create or replace function budget.locked(p_key text) returns budget.keys language plpgsql as $$
declare
  found_key budget.keys;
begin
  loop
    select * into found_key from budget.keys k where k.key = p_key for update;
    if found then return found_key; end if;
    insert into budget.keys (key) values (p_key) on conflict do nothing;
    update budget.keys k set
      rate_at_cut = l.rate_at_cut, recover_from = l.recover_from, grown = l.grown,
      blocked_until = case when l.recover_from > budget.now_us() then l.recover_from end -- a long Retry-After outlives a crash
    from budget.learnt l where k.key = p_key and l.key = p_key and k.counted_until = 0 and k.rate_at_cut = 0;
  end loop;
end $$;

create function budget.keep_learnt(p_key text, p_rate_at_cut double precision, p_recover_from double precision,
  p_grown double precision) returns void language sql as $$
  insert into budget.learnt as l (key, rate_at_cut, recover_from, grown)
  values (p_key, p_rate_at_cut, p_recover_from, p_grown)
  on conflict (key) do update
    set rate_at_cut = excluded.rate_at_cut, recover_from = excluded.recover_from, grown = excluded.grown
$$;


create function budget.grown_until(before budget.keys, p_blocked_until double precision, p_now double precision)
returns double precision language sql immutable as $$
  select before.grown + greatest(0, least(p_now, before.waited_for_until)
    - greatest(before.counted_until, before.recover_from, p_blocked_until))
$$;

create function budget.rate_now(
  p_rate_at_cut double precision, p_recover_from double precision, p_grown double precision, p_ceiling double precision,
  p_mode text, p_bound_rate double precision, p_bound_until double precision, p_now double precision
) returns double precision language plpgsql immutable as $$
declare
  return_s constant double precision := 20;
  remembered constant double precision := 0.95;
  lost constant double precision := 0.25;
  probing constant double precision := 0.0025;
  probing_faster constant double precision := 0.000001;
  floor_rate constant double precision := 1::double precision / 60;
  rate double precision := p_ceiling;
  grown_for double precision;
  part_left double precision;
  probed double precision;
  doublings double precision;
begin
  if p_rate_at_cut > 0 then
    grown_for := case p_mode when 'discover' then p_grown else greatest(0, p_now - p_recover_from) end / 1000000;
    if grown_for < return_s then
      part_left := 1 - grown_for / return_s;
      rate := p_rate_at_cut * (remembered - lost * part_left * part_left * part_left);
    else
      probed := grown_for - return_s;
      if p_mode = 'discover' then
        rate := p_rate_at_cut * (remembered + probing * probed + probing_faster * probed * probed * probed);
      else
        rate := remembered * p_rate_at_cut + probing * p_ceiling * probed;
      end if;
    end if;
  elsif p_mode = 'discover' then
    doublings := p_grown / 1000000 / 4;
    rate := 1;
    while doublings >= 1 and rate < p_ceiling loop
      rate := rate * 2;
      doublings := doublings - 1;
    end loop;
    rate := rate * (1 + least(1, doublings));
  end if;
  rate := least(p_ceiling, greatest(rate, floor_rate));
  if p_now < p_bound_until then rate := least(rate, greatest(p_bound_rate, floor_rate)); end if;
  return rate;
end $$;

create function budget.limited(
  p_key text, p_for double precision, p_admitted_at double precision, p_ceiling double precision, p_mode text,
  out is_cut boolean, out rate double precision, out now_us double precision
) language plpgsql as $$
<<decision>>
declare
  heard_after constant double precision := 250000;
  before budget.keys := budget.locked(p_key);
  blocked_until double precision;
  rate_at_cut double precision := before.rate_at_cut;
  recover_from double precision := before.recover_from;
  grown double precision;
begin
  now_us := budget.now_us();
  blocked_until := coalesce(before.blocked_until, now_us);
  grown := budget.grown_until(before, blocked_until, now_us);
  rate := budget.rate_now(rate_at_cut, recover_from, grown, p_ceiling, p_mode, before.bound_rate, before.bound_until, now_us);
  blocked_until := greatest(blocked_until, now_us + p_for);
  is_cut := p_admitted_at >= recover_from;
  if is_cut then
    rate_at_cut := rate;
    grown := 0;
    recover_from := now_us + heard_after;
  end if;
  recover_from := greatest(recover_from, blocked_until);
  rate := budget.rate_now(rate_at_cut, recover_from, grown, p_ceiling, p_mode, before.bound_rate, before.bound_until, now_us);
  update budget.keys k set
    blocked_until = decision.blocked_until, rate_at_cut = decision.rate_at_cut, recover_from = decision.recover_from,
    grown = decision.grown, counted_until = now_us
  where k.key = p_key;
  if is_cut then perform budget.keep_learnt(p_key, rate_at_cut, recover_from, grown); end if;
end $$;

create function budget.retry(
  p_key text, p_successes double precision,
  out is_granted boolean, out retry_in_us double precision, out now_us double precision
) language plpgsql as $$
declare
  before budget.keys := budget.locked(p_key);
  tenths double precision;
begin
  now_us := budget.now_us();
  tenths := least(1000, before.retries + p_successes);
  if tenths < 10 then tenths := least(10, tenths + (now_us - before.retry_asked) / 1000000); end if;
  is_granted := tenths >= 10 - 0.001::double precision;
  retry_in_us := case when is_granted then 0 else (10 - tenths) * 1000000 end;
  if is_granted then tenths := greatest(0, tenths - 10); end if;
  update budget.keys k set retries = tenths, retry_asked = now_us where k.key = p_key;
end $$;


-- Under the lock of the key's row, which the caller holds.
create function budget.allot(
  p_key text, p_holder text, p_seq double precision, p_holding double precision, p_wanted double precision,
  p_cap double precision, p_now double precision
) returns double precision language plpgsql as $$
declare
  own budget.holders;
  is_waiting boolean;
  own_since double precision := p_now;
  is_turn_over boolean;
  held double precision;
  wanting double precision;
  equal_share double precision := p_cap;
  due double precision;
  given double precision;
begin
  delete from budget.holders h where h.key = p_key and h.expires_at <= p_now;
  select * into own from budget.holders h where h.key = p_key and h.holder = p_holder;
  if own.seq >= p_seq then return 0; end if;
  if p_wanted = 0 and p_holding = 0 then
    delete from budget.holders h where h.key = p_key and h.holder = p_holder;
    return 0;
  end if;
  is_waiting := coalesce(own.slots, 0) = 0;
  if own.holder is not null then own_since := own.since; end if;
  is_turn_over := not is_waiting and p_now - own_since >= 500000;
  select count(*) filter (where h.wanted > 0) + case when p_wanted > 0 then 1 else 0 end into wanting
    from budget.holders h where h.key = p_key and h.holder <> p_holder;
  if wanting > 0 then equal_share := floor(p_cap / wanting); end if;
  select coalesce(sum(case
      when equal_share >= 1 then greatest(h.slots, least(h.wanted, equal_share))
      when h.slots > 0 then h.slots
      when h.wanted > 0 and (is_turn_over or (is_waiting and h.since < own_since)) then 1
      else 0 end), 0) into due
    from budget.holders h where h.key = p_key and h.holder <> p_holder;
  given := greatest(0, least(p_wanted, p_cap - due));
  held := greatest(p_holding, given);
  if (held > 0) = is_waiting then own_since := p_now; end if;
  insert into budget.holders as h (key, holder, seq, slots, wanted, since, expires_at)
  values (p_key, p_holder, p_seq, held, p_wanted, own_since, p_now + 15000000)
  on conflict (key, holder) do update set seq = excluded.seq, slots = excluded.slots, wanted = excluded.wanted,
    since = excluded.since, expires_at = excluded.expires_at;
  return given;
end $$;


-- Times are µs: now_us since 1970, the others delays from it. Without a holder nothing is asked about slots.
create function budget.acquire(
  p_key text, p_lane text, p_want double precision, p_cost double precision, p_ceiling double precision,
  p_burst double precision, p_mode text, p_within double precision, p_share double precision,
  p_bound_rate double precision, p_bound_for double precision, p_successes double precision,
  p_holder text, p_seq double precision, p_holding double precision, p_wanted double precision, p_cap double precision,
  p_extra double precision,
  out granted double precision, out now_us double precision, out first_in_us double precision,
  out retry_in_us double precision, out blocked_for_us double precision, out rate double precision,
  out slots double precision
) language plpgsql as $$
<<decision>>
declare
  lease constant double precision := 250000;
  turn_length constant double precision := 50000;
  late constant double precision := 50000;
  max_turns constant double precision := 16;
  epsilon constant double precision := 0.001;
  discovered_burst constant double precision := 0.0025;
  before budget.keys := budget.locked(p_key);
  want double precision := p_want;
  burst double precision := p_burst;
  blocked_until double precision;
  grown double precision;
  waited_for_until double precision := before.waited_for_until;
  bound_rate double precision := before.bound_rate;
  bound_until double precision := before.bound_until;
  turns double precision := case p_lane when 'interactive' then before.interactive_turns else before.batch_turns end;
  share_at double precision := before.share_at;
  gap double precision;
  cell double precision;
  room double precision;
  ahead double precision := 1000000;
  lease_calls double precision;
  tat double precision;
  free double precision;
  span double precision;
  earned double precision;
  in_time double precision;
  calls_left double precision;
  turn double precision;
  turn_end double precision;
  share_calls double precision;
  by_share double precision := 'infinity';
begin
  now_us := budget.now_us();
  granted := 0;
  retry_in_us := 0;
  slots := 0;
  blocked_until := coalesce(before.blocked_until, now_us);
  grown := budget.grown_until(before, blocked_until, now_us);
  if p_bound_rate > 0 and (now_us >= bound_until or p_bound_rate <= bound_rate) then
    bound_rate := p_bound_rate;
    bound_until := now_us + p_bound_for;
  end if;
  rate := budget.rate_now(before.rate_at_cut, before.recover_from, grown, p_ceiling, p_mode, bound_rate, bound_until, now_us);
  gap := 1000000 / rate;
  if p_mode = 'discover' then burst := least(burst, 1 + rate * discovered_burst); end if;
  if p_holder is not null then
    slots := budget.allot(p_key, p_holder, p_seq, p_holding, p_wanted, p_cap, now_us);
    want := want + greatest(0, least(p_extra, slots - p_holding));
  end if;

  cell := p_cost * gap;
  room := greatest(burst, p_cost) * gap;
  if p_lane <> 'interactive' then
    ahead := greatest(0, floor(turn_length / cell) - 1) * cell + greatest(0, late - (burst - 1) * gap);
  end if;
  ahead := least(ahead, p_within);
  tat := greatest(before.tat, now_us, blocked_until + (burst - 1) * gap);
  lease_calls := greatest(1, floor(lease / cell));
  first_in_us := tat - now_us + cell - room;
  blocked_for_us := greatest(0, blocked_until - now_us);

  if blocked_for_us > 0 then
    retry_in_us := blocked_for_us;
  else
    free := floor((ahead - first_in_us) / cell + 1 + epsilon);
    granted := greatest(0, least(want, free, lease_calls));
    if p_share > 0 then
      span := greatest(lease, cell / p_share);
      share_at := greatest(share_at, now_us - span);
      if granted = 0 then
        earned := floor(((now_us - share_at) * p_share) / cell + epsilon);
        in_time := floor((p_within - first_in_us) / cell + 1 + epsilon);
        granted := greatest(0, least(want, earned, in_time, lease_calls));
      end if;
      share_at := least(share_at + (granted * cell) / p_share, now_us + span);
    end if;
    tat := tat + granted * cell;
    if granted > 0 then waited_for_until := greatest(waited_for_until, now_us + first_in_us + (granted - 1) * cell); end if;

    if granted < want then
      calls_left := want - granted;
      turn := least(calls_left, greatest(1, floor(turn_length / cell))) * cell;
      turn_end := least(greatest(turns, tat), tat + (max_turns - 1) * turn) + turn;
      retry_in_us := turn_end - now_us - room - ahead;
      if p_share > 0 then
        share_calls := least(calls_left, greatest(1, floor((turn_length * p_share) / cell)));
        by_share := greatest(share_at + (share_calls * cell) / p_share, tat + cell - room - p_within) - now_us;
      end if;
      if by_share < retry_in_us then retry_in_us := by_share; else turns := turn_end; end if;
      retry_in_us := greatest(0, retry_in_us);
      waited_for_until := greatest(waited_for_until, now_us + retry_in_us + late);
    end if;
  end if;

  update budget.keys k set
    tat = decision.tat,
    interactive_turns = case p_lane when 'interactive' then turns else k.interactive_turns end,
    batch_turns = case p_lane when 'batch' then turns else k.batch_turns end,
    share_at = decision.share_at,
    blocked_until = decision.blocked_until,
    grown = decision.grown,
    waited_for_until = decision.waited_for_until,
    counted_until = now_us,
    bound_rate = decision.bound_rate,
    bound_until = decision.bound_until,
    retries = least(1000, k.retries + p_successes)
  where k.key = p_key;
  -- Every ten seconds of growth: two doublings and a half.
  if p_mode = 'discover' and floor(grown / 10000000) > floor(before.grown / 10000000) then
    perform budget.keep_learnt(p_key, before.rate_at_cut, before.recover_from, grown);
  end if;
end $$;
