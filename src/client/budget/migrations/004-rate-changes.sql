-- The time between two calls when `tat` was written. Tokens that are used up are counted in it, so a rate that changes, such as one that
-- an answer's headers bound for a while, leaves as many tokens used up as before.
alter table budget.keys add gap double precision not null default 0;

-- Times are µs: now_us since 1970, the others delays from it. Without a holder nothing is asked about slots.
create or replace function budget.acquire(
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
  tat double precision := before.tat;
  stopped_until double precision;
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
  stopped_until := greatest(now_us, blocked_until);
  if before.gap > 0 and before.gap <> gap and tat > stopped_until then
    tat := stopped_until + (tat - stopped_until) * gap / before.gap;
  end if;
  tat := greatest(tat, now_us, blocked_until + (burst - 1) * gap);
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
      if now_us < bound_until then retry_in_us := least(retry_in_us, bound_until - now_us); end if;
      retry_in_us := greatest(0, retry_in_us);
      waited_for_until := greatest(waited_for_until, now_us + retry_in_us + late);
    end if;
  end if;

  update budget.keys k set
    tat = decision.tat,
    gap = decision.gap,
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
