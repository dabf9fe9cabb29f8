-- Unlogged: after a crash the key starts again without its burst, as in a Redis that lost its data.
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

