-- Until when the service asked to wait, with a rate limit.
alter table ledger.budget_minutes add paused_until timestamptz;
