-- What is known about tasks, and the changes on their way to targets.
-- What a sync of tasks has last seen of each task, subtask and card of its account.
create table ledger.tasks (
  account text not null,
  sync text not null,
  kind text not null check (kind in ('task', 'subtask', 'card')),
  task_id text not null,
  -- Of a subtask, its task; of a card, its pipeline.
  parent_id text,
  -- Starts at 1, and increases with each change that a scan sees.
  version int not null,
  -- As it is sent to targets.
  state jsonb not null,
  hash text not null,
  -- Complete scans in a row that have not seen it.
  missed int not null default 0,
  is_gone boolean not null default false,
  -- When its subtasks were last read; only for tasks.
  subtasks_at timestamptz,
  changed_at timestamptz not null default clock_timestamp(),
  -- The target that this version came from; null: it was seen at the service.
  origin text,
  primary key (account, sync, kind, task_id)
);
create index tasks_by_parent on ledger.tasks (account, sync, kind, parent_id) where parent_id is not null;
-- The lists whose first scan is over: what is new in them from then on is a change, and not the baseline.
create table ledger.task_lists (
  account text not null,
  sync text not null,
  -- tasks, pipelines (all of them), or pipeline: and an id.
  list text not null,
  primary key (account, sync, list)
);
-- How many tasks a run saw unchanged: a number instead of a row for each.
alter table ledger.runs add unchanged bigint not null default 0;

-- The outbox: one change on its way to one target.
create table ledger.deliveries (
  -- The same in all attempts and replays.
  id text primary key,
  target text not null,
  account text not null,
  sync text not null,
  -- The run that saw the change. That run may be deleted.
  run_id text,
  kind text not null,
  task_id text not null,
  -- The task's version.
  sequence int not null,
  event text not null,
  -- json, not jsonb: it keeps any character.
  task json not null,
  seen_at timestamptz not null,
  state text not null check (state in ('waiting', 'sending', 'ended')),
  verdict text check (verdict in ('delivered', 'already', 'skipped', 'superseded', 'dead')),
  reason text,
  detail text,
  -- What the target last answered.
  answer json,
  attempts int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  -- The claim under which it is being sent.
  claim_id bigint,
  -- A newer delivery of this task to this target, made while this one was on its way: this one is not retried.
  newer_id text,
  created_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  check ((state = 'ended') = (verdict is not null))
);
create index deliveries_due on ledger.deliveries (target, due_at) where state = 'waiting';
create index deliveries_in_order on ledger.deliveries (target, sync, kind, task_id, sequence);
create index deliveries_newest on ledger.deliveries (created_at desc);
create index deliveries_by_run on ledger.deliveries (run_id);

-- A process's right to send to a target for a while. Every outcome that it writes names this claim.
create table ledger.delivery_claims (
  id bigint generated always as identity primary key,
  target text not null,
  worker jsonb not null,
  expires_at timestamptz not null
);

-- Targets that are paused or disabled.
create table ledger.target_states (
  target text primary key,
  disabled_reason text,
  disabled_detail text,
  disabled_at timestamptz,
  blocked_until timestamptz,
  -- Since when every call to it has failed; null while it answers.
  failing_since timestamptz,
  failing_detail text
);
