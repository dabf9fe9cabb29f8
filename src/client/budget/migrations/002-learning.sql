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

