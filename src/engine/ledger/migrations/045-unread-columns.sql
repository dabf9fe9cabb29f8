-- Nothing reads them.
alter table ledger.plan_files drop column saved_at;
alter table ledger.kept_secrets drop column kept_at;
