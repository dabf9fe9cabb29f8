-- Problems that were reported, until they are gone.
create table ledger.alerts (
  -- The event and what has the problem, such as run-failed:nightly-contacts.
  key text primary key,
  -- As it was last reported.
  message jsonb not null,
  -- The causes that were reported since it began.
  causes text[] not null,
  since timestamptz not null default clock_timestamp(),
  -- Since when the problem is gone; null while it exists.
  gone_at timestamptz
);
-- Numbers all messages, so that the newest about a problem is known.
create sequence ledger.alert_messages as int;

-- Alerts are sent as deliveries of the kind alert.
alter table ledger.deliveries drop constraint if exists deliveries_event_check;
alter table ledger.deliveries add constraint deliveries_event_check
  check (event in ('created', 'completed', 'reopened', 'changed', 'gone', 'opened', 'recovered'));

-- Services that do not work, by account.
create table ledger.service_states (
  account text primary key,
  message text not null,
  down_since timestamptz not null default clock_timestamp(),
  -- When a process last found it down. No process watches it if that is long ago.
  seen_at timestamptz not null default clock_timestamp()
);

-- The last start that was due; null: none since the schedule was changed or the sync was paused.
alter table ledger.schedules add last_due_at timestamptz;
