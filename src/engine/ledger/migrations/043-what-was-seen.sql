-- The name of the plan that a run shows: an approval names the plan that a person has seen.
alter table ledger.runs add plan_id text;
-- What the rows of a file say, if some have no order_id: the same in every form in which a spreadsheet saves the file.
alter table ledger.loads add content text;
create index loads_by_content on ledger.loads (scope, content) where content is not null;
