-- Nothing reads it: a refused key is tried with the lists of the service.
alter table ledger.suspensions drop column if exists operation;
