-- The attempts of a delivery that did not succeed, the last 20: when, why, what was said, and what the target answered.
alter table ledger.deliveries add failures jsonb;
