-- When each read began is kept here, not in the process that reads: it moves with the clock, as the times it is compared
-- with. A process of an earlier version writes no time, so the default is one.
alter table ledger.reads add column begun_at timestamptz not null default 'epoch';
alter table ledger.reads alter column begun_at set default clock_timestamp();

-- A time in the past, after the clock was set by `by`. Set back, only times that lie ahead are certainly from before: the
-- others may have been written since, and moving them would make them too old.
create function ledger.moved(past timestamptz, by interval, present timestamptz) returns timestamptz language sql immutable as $$
  select case when by < interval '0' and past <= present then past else least(past + by, present) end
$$;

-- The end of a claim. Set back, it may have been renewed since; a claim must not end while its process relies on it.
create function ledger.moved_end(at timestamptz, by interval, present timestamptz) returns timestamptz language sql immutable as $$
  select greatest(at + by, least(at, present + interval '2 min'))
$$;
