-- The newest run of each sync: without the scans of tasks, which are most runs, and without reading the runs themselves.
create index runs_done on ledger.runs (job, scope, sync, created_at desc, id desc) include (part_of)
  where status = 'done' and not dry_run and job <> 'tasks';
-- Few loads are corrections of others.
create index loads_corrections on ledger.loads ((form->>'corrects')) where form->>'corrects' is not null;
