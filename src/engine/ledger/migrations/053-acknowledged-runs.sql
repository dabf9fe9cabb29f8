-- The revision of an ended run whose problems a person has acknowledged; null: none. A run that ends again has another revision.
alter table ledger.runs add acknowledged_revision int;
