-- The run of another sync that a due start waits for, because both write the same records.
alter table ledger.schedules add waits_for text;
