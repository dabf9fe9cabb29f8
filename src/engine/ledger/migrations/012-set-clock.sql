-- What the ledger does when the database's clock is set: the times it waits for move with the clock.
create table ledger.clock (
  -- Moved on every few seconds while a process looks: the clock was set back where it lies ahead.
  seen_at timestamptz not null,
  -- How often the clock was set, as far as any process noticed.
  times_set bigint not null default 0
);
create unique index clock_is_one on ledger.clock ((true));
insert into ledger.clock (seen_at) values (clock_timestamp());

-- Once for each time the clock is set, whichever processes notice: the others have another count. In order of risk:
-- what is sent under a claim, what is in doubt, what waits.
create function ledger.move_times(p_times_set bigint, p_by interval) returns boolean language plpgsql as $$
declare
  present timestamptz := clock_timestamp();
begin
  update ledger.clock set times_set = times_set + 1, seen_at = present where times_set = p_times_set;
  if not found then return false; end if;
  update ledger.claims set expires_at = expires_at + p_by;
  update ledger.delivery_claims set expires_at = expires_at + p_by;
  update ledger.rows r set since = least(r.since + p_by, present) from ledger.runs u
    where u.id = r.run_id and (u.status in ('running', 'paused', 'failed') or u.open_since is not null)
      and r.state <> 'settled' and r.since is not null;
  update ledger.runs set open_since = least(open_since + p_by, present) where open_since is not null;
  update ledger.runs set attended_at = least(attended_at + p_by, present) where attended_at is not null;
  update ledger.runs set trouble_since = least(trouble_since + p_by, present) where trouble_since is not null;
  update ledger.links set linked_at = least(linked_at + p_by, present) where kind like 'creating:%';
  update ledger.loads set received_at = least(received_at + p_by, present) where not is_received;
  update ledger.suspensions set probe_at = probe_at + p_by;
  update ledger.target_states set blocked_until = blocked_until + p_by,
    failing_since = least(failing_since + p_by, present);
  update ledger.deliveries set due_at = due_at + p_by where state <> 'ended';
  update ledger.item_reports set due_at = due_at + p_by, held_until = held_until + p_by where state = 'waiting';
  update ledger.audit_debts set doubt_at = least(doubt_at + p_by, present) where paid_at is null;
  return true;
end $$;
