-- Up to when the items that people create at a target have become tasks, by the sync that reads them.
create table ledger.new_items (
  scope text not null,
  sync text not null,
  target text not null,
  -- Items that were created earlier stay without a task.
  since timestamptz not null,
  primary key (scope, sync, target)
);
