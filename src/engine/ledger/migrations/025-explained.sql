-- For lists of what needs a person, in a ledger with many rows.
-- Rows that a person may ask about, with why: grouped and listed without a scan of all rows of the run.
create index verdicts_explained on ledger.verdicts (run_id, verdict, reason, n)
  where reason is not null or verdict in ('invalid', 'rejected', 'review', 'unknown');
drop index if exists ledger.verdicts_in_review;

-- Orders of files by their order_id: an order that a later load has too waits there.
create index inputs_by_order on ledger.inputs (label) where cells is not null;

-- Decisions that may count, whether applied or not.
create index decisions_by_subject on ledger.decisions (scope, kind, subject) where undone_at is null and lapsed_at is null;
