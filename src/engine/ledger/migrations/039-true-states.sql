-- When a service first accepted a call at an address with a key. Null: none has, so the address and the key may be wrong.
alter table ledger.identities add column accepted_at timestamptz;
update ledger.identities set accepted_at = since;
-- What targets have not taken: deliveries that failed and are retried, and dead letters.
create index deliveries_retried on ledger.deliveries (target) where state <> 'ended' and attempts > 0;
create index deliveries_dead on ledger.deliveries (target) where verdict = 'dead';
