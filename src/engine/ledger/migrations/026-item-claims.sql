-- Outside items to which deliveries of tasks without a link are on their way, so that two tasks never write one item. They end
-- with the claim of their deliveries.
create table ledger.item_claims (
  target text not null,
  scope text not null,
  item_id text not null,
  -- The task whose text names the item, such as task:12.
  source_id text not null,
  claim_id bigint not null references ledger.delivery_claims on delete cascade,
  primary key (target, scope, item_id)
);
create index item_claims_by_claim on ledger.item_claims (claim_id);
