-- The customers of evidence by id, each with its fields as the service writes them; what an earlier version stored has none.
alter table ledger.evidence add written jsonb not null default '{}';
