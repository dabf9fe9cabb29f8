-- What outside systems say about their items, and what came of it.
-- What a target last said about an item: a state, not an event. A newer report replaces one that still waits.
create table ledger.item_reports (
  target text not null,
  item_id text not null,
  is_completed boolean not null,
  -- The target's own name for it, for people.
  status text not null,
  -- hook: a call of the target; read: a read of ours found a difference.
  source text not null check (source in ('hook', 'read')),
  -- While it waited, another report contradicted it.
  has_moved boolean not null default false,
  reported_at timestamptz not null default clock_timestamp(),
  -- Increases with each report: the result of an older report does not end a newer one.
  revision int not null default 1,
  state text not null check (state in ('waiting', 'ended')),
  verdict text check (verdict in ('same', 'taken', 'kept', 'sent-back', 'not-taken')),
  reason text,
  detail text,
  attempts int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  -- A process works on it until then. `holds` counts, so that a hold that has expired ends nothing.
  held_until timestamptz,
  holds int not null default 0,
  ended_at timestamptz,
  -- The state in which the item was last read, and when; null: it was never read.
  seen_completed boolean,
  seen_at timestamptz,
  -- When a run last read it back.
  read_at timestamptz,
  primary key (target, item_id),
  check ((state = 'ended') = (verdict is not null))
);
create index item_reports_due on ledger.item_reports (target, due_at) where state = 'waiting';

-- Calls that were received: a repeated call is ignored.
create table ledger.hooks_seen (
  target text not null,
  digest text not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (target, digest)
);
create index hooks_seen_old on ledger.hooks_seen (seen_at);

-- Notes for people that the next run of a sync gets.
create table ledger.sync_notes (
  id bigint generated always as identity primary key,
  account text not null,
  sync text not null,
  note text not null,
  since timestamptz not null default clock_timestamp()
);
create index sync_notes_by_sync on ledger.sync_notes (account, sync, id);
-- The last delivery that changed each item.
create index deliveries_told on ledger.deliveries (target, sync, kind, task_id, ended_at)
  where verdict in ('delivered', 'already');
