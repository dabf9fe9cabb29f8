-- What each run did and waited for, in order. A step ends when its run's status, its phase or its wait changes, or when a process
-- works on the run again; the step that has not ended is the run itself.
create table ledger.run_steps (
  run_id text not null references ledger.runs on delete cascade,
  id bigint generated always as identity,
  -- It began when the one before it ended, or with the run.
  ended_at timestamptz not null default clock_timestamp(),
  status text not null,
  phase text,
  error_code text,
  -- The service did not answer.
  is_away boolean not null default false,
  -- The account was suspended.
  is_suspended boolean not null default false,
  -- The run that it waited for.
  waits_for text,
  -- How long no process worked on the run, of this step.
  idle_ms float8 not null default 0,
  primary key (run_id, id)
);

create function ledger.end_step() returns trigger language plpgsql as $$
begin
  insert into ledger.run_steps (run_id, status, phase, error_code, is_away, is_suspended, waits_for, idle_ms)
  values (old.id, old.status, old.phase, old.error_code, old.trouble_since is not null,
    exists (select from ledger.suspensions where scope = old.scope), old.checkpoint->'waits'->>'run', new.idle_ms - old.idle_ms);
  return null;
end $$;

create trigger end_step after update of status, phase, error_code, trouble_since, checkpoint, idle_ms on ledger.runs for each row
  when ((old.status, old.phase, old.error_code, old.trouble_since is null, old.checkpoint->'waits'->>'run', old.idle_ms)
    is distinct from (new.status, new.phase, new.error_code, new.trouble_since is null, new.checkpoint->'waits'->>'run', new.idle_ms))
  execute function ledger.end_step();

-- An account was suspended, or resumed.
create function ledger.end_steps_of_scope() returns trigger language plpgsql as $$
begin
  insert into ledger.run_steps (run_id, status, phase, error_code, is_away, is_suspended, waits_for)
  select id, status, phase, error_code, trouble_since is not null, tg_op = 'DELETE', checkpoint->'waits'->>'run'
  from ledger.runs where status = 'running' and scope = coalesce(new.scope, old.scope);
  return null;
end $$;

create trigger end_steps_of_scope after insert or delete on ledger.suspensions for each row execute function ledger.end_steps_of_scope();

-- Of a run that began before, earlier steps are not known.
insert into ledger.run_steps (run_id, status) select id, status from ledger.runs where phase is not null;
