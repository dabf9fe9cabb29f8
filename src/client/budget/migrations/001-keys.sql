-- Unlogged: after a crash the key starts anew, without its burst, as in a Redis that lost its data.
create unlogged table budget.keys (
  key text primary key,
  tat double precision not null default 0,
  interactive_turns double precision not null default 0,
  batch_turns double precision not null default 0,
  share_at double precision not null default 0,
  blocked_until double precision -- null until the first decision or block
) with (fillfactor = 50);

create function budget.now_us() returns double precision language sql volatile as
$$ select (extract(epoch from clock_timestamp()) * 1000000)::double precision $$;

-- The row of a key, locked until the transaction ends, so that decisions on one key follow one another.
create function budget.locked(p_key text) returns budget.keys language plpgsql as $$
declare
  found_key budget.keys;
begin
  loop
    select * into found_key from budget.keys k where k.key = p_key for update;
    if found then return found_key; end if;
    insert into budget.keys (key) values (p_key) on conflict do nothing;
  end loop;
end $$;

-- Times are µs: now_us since 1970, the others delays from it.
create function budget.acquire(
  p_key text, p_lane text, p_want double precision, p_cost double precision, p_interval double precision,
  p_burst double precision, p_ahead double precision, p_within double precision, p_share double precision,
  out granted double precision, out now_us double precision, out first_in_us double precision,
  out retry_in_us double precision, out blocked_for_us double precision
) language plpgsql as $$
<<decision>>
declare
  lease constant double precision := 250000;
  turn_length constant double precision := 50000;
  max_turns constant double precision := 16;
  epsilon constant double precision := 0.001;
  before budget.keys := budget.locked(p_key);
  cell double precision := p_cost * p_interval;
  room double precision := greatest(p_burst, p_cost) * p_interval;
  turns double precision := case p_lane when 'interactive' then before.interactive_turns else before.batch_turns end;
  share_at double precision := before.share_at;
  lease_calls double precision := greatest(1, floor(lease / cell));
  blocked_until double precision;
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
  blocked_until := coalesce(before.blocked_until, now_us);
  tat := greatest(before.tat, now_us, blocked_until + (p_burst - 1) * p_interval);
  first_in_us := tat - now_us + cell - room;
  blocked_for_us := greatest(0, blocked_until - now_us);

  if blocked_for_us > 0 then
    retry_in_us := blocked_for_us;
  else
    free := floor((p_ahead - first_in_us) / cell + 1 + epsilon);
    granted := greatest(0, least(p_want, free, lease_calls));
    if p_share > 0 then
      span := greatest(lease, cell / p_share);
      share_at := greatest(share_at, now_us - span);
      if granted = 0 then
        earned := floor(((now_us - share_at) * p_share) / cell + epsilon);
        in_time := floor((p_within - first_in_us) / cell + 1 + epsilon);
        granted := greatest(0, least(p_want, earned, in_time, lease_calls));
      end if;
      share_at := least(share_at + (granted * cell) / p_share, now_us + span);
    end if;
    tat := tat + granted * cell;

    if granted < p_want then
      calls_left := p_want - granted;
      turn := least(calls_left, greatest(1, floor(turn_length / cell))) * cell;
      turn_end := least(greatest(turns, tat), tat + (max_turns - 1) * turn) + turn;
      retry_in_us := turn_end - now_us - room - p_ahead;
      if p_share > 0 then
        share_calls := least(calls_left, greatest(1, floor((turn_length * p_share) / cell)));
        by_share := greatest(share_at + (share_calls * cell) / p_share, tat + cell - room - p_within) - now_us;
      end if;
      if by_share < retry_in_us then retry_in_us := by_share; else turns := turn_end; end if;
      retry_in_us := greatest(0, retry_in_us);
    end if;
  end if;

  update budget.keys k set
    tat = decision.tat,
    interactive_turns = case p_lane when 'interactive' then turns else k.interactive_turns end,
    batch_turns = case p_lane when 'batch' then turns else k.batch_turns end,
    share_at = decision.share_at,
    blocked_until = decision.blocked_until
  where k.key = p_key;
end $$;

create function budget.block(p_key text, p_for double precision) returns void language plpgsql as $$
begin
  perform budget.locked(p_key);
  update budget.keys k set blocked_until = greatest(k.blocked_until, budget.now_us() + p_for) where k.key = p_key;
end $$;
