-- Nothing reads them.
alter table ledger.plan_files drop column if exists saved_at;
alter table ledger.kept_secrets drop column if exists kept_at;
