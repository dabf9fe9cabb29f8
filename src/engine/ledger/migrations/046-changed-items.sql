-- Items that were created before stay without a task; the others become tasks also when they change later.
alter table ledger.new_items add column baseline timestamptz;
update ledger.new_items set baseline = since;
alter table ledger.new_items alter column baseline set not null;
-- Items that the last poll could not read: each is named once.
alter table ledger.new_items add column unread text[] not null default '{}';
