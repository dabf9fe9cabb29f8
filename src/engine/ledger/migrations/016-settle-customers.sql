-- The phase is named after what it reads back, as settle-orders is.
update ledger.runs set phase = 'settle-customers' where phase = 'settle-unknown';
