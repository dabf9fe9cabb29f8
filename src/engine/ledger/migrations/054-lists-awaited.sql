-- The lists for which a run has waited until they must show a record that may have been new. It waits once for each.
alter table ledger.runs add lists_awaited text[] not null default '{}';
