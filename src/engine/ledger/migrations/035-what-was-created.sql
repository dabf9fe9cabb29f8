-- Of a creation that was accepted: the id of the item. Of fields that are not written yet: their names.
alter table ledger.creations add result text;
