-- The service shows a record by its id, and not in its list.
alter table ledger.records add is_listed boolean not null default true;
-- The fields of the record before an update.
alter table ledger.plans add was jsonb;
-- What later runs must not send again.
drop index if exists ledger.verdicts_not_found;
create index verdicts_may_exist on ledger.verdicts (run_id, n)
  where reason in ('GAVE_UP', 'NOT_RECOGNISED', 'NOT_IN_LIST', 'LOST', 'UNLISTED', 'DECIDED_IGNORE');
