-- The times since which outcomes are unknown: of rows, created tasks, deliveries and audits.
create function ledger.move_doubts(p_by interval, p_present timestamptz) returns void language sql as $$
  update ledger.attempts a set at = ledger.moved(a.at, p_by, p_present) from ledger.runs u
    where u.id = a.run_id and (u.status in ('running', 'paused', 'failed') or u.open_since is not null)
      and not exists (select from ledger.verdicts v where v.run_id = a.run_id and v.n = a.n);
  update ledger.attempts a set at = ledger.moved(a.at, p_by, p_present) from ledger.audit_debts d
    where d.paid_at is null and d.run_id = a.run_id and d.n = a.n
      and exists (select from ledger.verdicts v where v.run_id = a.run_id and v.n = a.n);
  update ledger.runs set open_since = ledger.moved(open_since, p_by, p_present) where open_since is not null;
  update ledger.creations set at = ledger.moved(at, p_by, p_present);
  update ledger.deliveries set unclear_at = ledger.moved(unclear_at, p_by, p_present) where unclear_at is not null;
  update ledger.audit_debts set doubt_at = ledger.moved(doubt_at, p_by, p_present) where paid_at is null;
$$;

-- Once for each time the clock is set, whichever processes notice: the others have another count. In order of risk: what is sent
-- under a claim, what has an unknown outcome, what waits.
-- Reads first: a transaction that judges rows by a read holds it, so these times move before it begins or after it ends.
create or replace function ledger.move_times(p_times_set bigint, p_by interval) returns boolean language plpgsql as $$
declare
  present timestamptz := clock_timestamp();
begin
  update ledger.clock set times_set = times_set + 1, seen_at = present where times_set = p_times_set;
  if not found then return false; end if;
  -- Only to earlier times: a read that seems older than it is proves less.
  update ledger.reads set begun_at = begun_at + p_by where p_by < interval '0';
  update ledger.claims set expires_at = ledger.moved_end(expires_at, p_by, present);
  update ledger.delivery_claims set expires_at = ledger.moved_end(expires_at, p_by, present);
  perform ledger.move_doubts(p_by, present);
  update ledger.runs set attended_at = ledger.moved(attended_at, p_by, present) where attended_at is not null;
  update ledger.runs set trouble_since = ledger.moved(trouble_since, p_by, present) where trouble_since is not null;
  update ledger.loads set received_at = ledger.moved(received_at, p_by, present) where not is_received;
  update ledger.suspensions set probe_at = probe_at + p_by;
  update ledger.target_states set blocked_until = blocked_until + p_by,
    failing_since = ledger.moved(failing_since, p_by, present);
  update ledger.deliveries set due_at = due_at + p_by where state <> 'ended';
  update ledger.item_reports set due_at = due_at + p_by, held_until = held_until + p_by where state = 'waiting';
  return true;
end $$;
