-- When an attempt of a delivery last ended without a clear answer: the target may still make the change.
alter table ledger.deliveries add unclear_at timestamptz;
