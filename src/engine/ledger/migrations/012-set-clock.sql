-- What the ledger does when the database's clock is set: the times it waits for move with the clock.
create table ledger.clock (
  -- Moved on every few seconds while a process looks: the clock was set back where it lies ahead.
  seen_at timestamptz not null,
  -- How often the clock was set, as far as any process noticed.
  times_set bigint not null default 0
);
create unique index clock_is_one on ledger.clock ((true));
insert into ledger.clock (seen_at) values (clock_timestamp());
