-- What outside systems say about their items, and what came of it.
-- What a target last said of an item: a state, not an event. A newer report replaces one that still waits.
create table ledger.item_reports (
  target text not null,
  item_id text not null,
  is_completed boolean not null,
  -- By the target's own naming, for people.
  status text not null,
  -- A call that came in, or a read of ours that found a difference.
  source text not null check (source in ('hook', 'read')),
  -- While it waited, another one said otherwise.
  has_moved boolean not null default false,
  reported_at timestamptz not null default clock_timestamp(),
  -- One more with every report: what came of an older one ends no newer one.
  revision int not null default 1,
  state text not null check (state in ('waiting', 'ended')),
  verdict text check (verdict in ('same', 'taken', 'kept', 'sent-back', 'not-taken')),
  reason text,
  detail text,
  attempts int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  -- Somebody works on it until then; which hold it is, so that one that ran out ends nothing.
  held_until timestamptz,
  holds int not null default 0,
  ended_at timestamptz,
  -- What the item certainly was when we last looked, and when that was; null: nobody has looked.
  seen_completed boolean,
  seen_at timestamptz,
  -- When a run last read it back, in turn.
  read_at timestamptz,
  primary key (target, item_id),
  check ((state = 'ended') = (verdict is not null))
);
create index item_reports_due on ledger.item_reports (target, due_at) where state = 'waiting';

-- Calls that were taken in: one that comes again says nothing new.
create table ledger.hooks_seen (
  target text not null,
  digest text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (target, digest)
);
create index hooks_seen_old on ledger.hooks_seen (seen_at);

-- What the next run of a sync is to say to people.
create table ledger.sync_notes (
  id bigint generated always as identity primary key,
  account text not null,
  sync text not null,
  note text not null,
  since timestamptz not null default clock_timestamp()
);
create index sync_notes_by_sync on ledger.sync_notes (account, sync, id);
-- Which deliveries have told a target last.
create index deliveries_told on ledger.deliveries (target, sync, kind, task_id, ended_at)
  where verdict in ('delivered', 'already');
