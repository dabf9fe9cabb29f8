-- The run of another sync that a due start waits for, because both write the same records.
alter table ledger.schedules add waits_for text;

-- The first start that was due and that no run has followed; null: none.
alter table ledger.schedules rename column last_due_at to unmet_since;
