-- The run has made more calls than it counts: a process ended before it recorded them, or a read ended without an answer.
alter table ledger.runs add column calls_missed boolean not null default false;
