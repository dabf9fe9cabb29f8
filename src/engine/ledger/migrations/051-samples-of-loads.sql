-- Hashes of some rows without an order_id: loads of files that have most of these rows in common have some hashes in common.
drop index if exists ledger.loads_by_content;
alter table ledger.loads drop column if exists content, add column sample bigint[] not null default '{}';
create index loads_by_sample on ledger.loads using gin (sample) where sample <> '{}';
