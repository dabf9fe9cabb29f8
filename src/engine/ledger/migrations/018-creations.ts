/** Creations at targets that are accounts of the service get a table of their own; before, they were among the links. */
import type { Migration } from '../../../database/migrate.ts';

export const creations: Migration = {
  name: '018-creations',
  sql: `
    -- The last creation of an item for a task, written before it is sent.
    create table ledger.creations (
      scope text not null,
      target text not null,
      -- Such as task:12.
      source_id text not null,
      at timestamptz not null default clock_timestamp(),
      -- The service has said that it accepted it.
      is_taken boolean not null default false,
      primary key (scope, target, source_id)
    );
    insert into ledger.creations (scope, target, source_id, at, is_taken)
      select scope, substr(kind, length('creating:') + 1), source_id, linked_at, hash is not distinct from 'taken'
      from ledger.links where starts_with(kind, 'creating:');
    delete from ledger.links where starts_with(kind, 'creating:');

    -- As before (014), with creations in place of their links.
    create or replace function ledger.move_times(p_times_set bigint, p_by interval) returns boolean language plpgsql as $$
    declare
      present timestamptz := clock_timestamp();
    begin
      update ledger.clock set times_set = times_set + 1, seen_at = present where times_set = p_times_set;
      if not found then return false; end if;
      update ledger.claims set expires_at = expires_at + p_by;
      update ledger.delivery_claims set expires_at = expires_at + p_by;
      update ledger.attempts a set at = least(a.at + p_by, present) from ledger.runs u
        where u.id = a.run_id and (u.status in ('running', 'paused', 'failed') or u.open_since is not null)
          and not exists (select from ledger.verdicts v where v.run_id = a.run_id and v.n = a.n);
      update ledger.runs set open_since = least(open_since + p_by, present) where open_since is not null;
      update ledger.runs set attended_at = least(attended_at + p_by, present) where attended_at is not null;
      update ledger.runs set trouble_since = least(trouble_since + p_by, present) where trouble_since is not null;
      update ledger.creations set at = least(at + p_by, present);
      update ledger.loads set received_at = least(received_at + p_by, present) where not is_received;
      update ledger.suspensions set probe_at = probe_at + p_by;
      update ledger.target_states set blocked_until = blocked_until + p_by,
        failing_since = least(failing_since + p_by, present);
      update ledger.deliveries set due_at = due_at + p_by where state <> 'ended';
      update ledger.item_reports set due_at = due_at + p_by, held_until = held_until + p_by where state = 'waiting';
      update ledger.audit_debts set doubt_at = least(doubt_at + p_by, present) where paid_at is null;
      return true;
    end $$;
  `,
};
