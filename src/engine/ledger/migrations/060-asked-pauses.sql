-- Until when the service asked to wait, with a rate limit.
alter table ledger.budget_minutes add paused_until timestamptz;
create index budget_minutes_paused on ledger.budget_minutes (scope) where paused_until is not null;
