-- When a service first accepted a call at an address with a key. Null: none has, so the address and the key may be wrong.
alter table ledger.identities add column accepted_at timestamptz;
update ledger.identities set accepted_at = since;
