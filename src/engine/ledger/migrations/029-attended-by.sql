-- The process that last noted that it works on the run: if it has ended, no one has to wait for its next note.
alter table ledger.runs add attended_by jsonb;
