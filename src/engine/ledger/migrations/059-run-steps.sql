-- What each run did and waited for, in order. A step ends when its run's status, its phase or its wait changes, or when a process
-- works on the run again; the step that has not ended is the run itself.
create table ledger.run_steps (
  run_id text not null references ledger.runs on delete cascade,
  id bigint generated always as identity,
  -- It began when the one before it ended, or with the run.
  ended_at timestamptz not null,
  status text not null,
  phase text,
  error_code text,
  -- The service did not answer.
  is_away boolean not null,
  -- The run that it waited for.
  waits_for text,
  -- How long no process worked on the run, of this step.
  idle_ms float8 not null,
  primary key (run_id, id)
);

create function ledger.end_step() returns trigger language plpgsql as $$
begin
  insert into ledger.run_steps (run_id, ended_at, status, phase, error_code, is_away, waits_for, idle_ms)
  values (old.id, clock_timestamp(), old.status, old.phase, old.error_code, old.trouble_since is not null, old.checkpoint->'waits'->>'run',
    new.idle_ms - old.idle_ms);
  return null;
end $$;

create trigger end_step after update of status, phase, error_code, trouble_since, checkpoint, idle_ms on ledger.runs for each row
  when ((old.status, old.phase, old.error_code, old.trouble_since is null, old.checkpoint->'waits'->>'run', old.idle_ms)
    is distinct from (new.status, new.phase, new.error_code, new.trouble_since is null, new.checkpoint->'waits'->>'run', new.idle_ms))
  execute function ledger.end_step();

-- Of a run that began before, earlier steps are not known.
insert into ledger.run_steps (run_id, ended_at, status, is_away, idle_ms)
select id, clock_timestamp(), status, false, 0 from ledger.runs where phase is not null;
