-- Contacts that the filter of a sync left out: how many, and how many of them are linked; null: the sync has no filter.
alter table ledger.runs add column left_out jsonb;
