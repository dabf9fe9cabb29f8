-- Items that could not become tasks when they were read: each run tries them again.
alter table ledger.new_items add column due jsonb not null default '[]';
