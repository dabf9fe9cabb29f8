-- Accounts whose key is refused.
-- Accounts whose key is refused: nothing is sent for them until a read has succeeded again.
create table ledger.suspensions (
  account text primary key,
  message text not null,
  since timestamptz not null default clock_timestamp(),
  refused_at timestamptz not null default clock_timestamp(),
  probes int not null default 0,
  probe_at timestamptz not null
);
