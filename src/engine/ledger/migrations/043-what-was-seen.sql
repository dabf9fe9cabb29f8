-- The name of the plan that a run shows: an approval names the plan that a person has seen.
alter table ledger.runs add plan_id text;
