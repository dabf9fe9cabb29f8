-- Of a creation that was accepted: the id of the item. Of fields that are not written yet: their names.
alter table ledger.creations add result text;
-- The delivery whose state of the task an item was created with.
alter table ledger.creations add delivery_id text;
