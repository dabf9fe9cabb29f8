-- How many rows of a run are in review with which reason: a few pages, where verdicts_explained has a leaf for each run.
create index verdicts_in_review on ledger.verdicts (run_id, reason) where verdict = 'review';
