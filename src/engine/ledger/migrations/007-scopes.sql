-- Which tenant of which service an account is, and the records that must be found there.
-- One tenant of one service. Everything the ledger knows of records belongs to a scope: ids are small integers on
-- every service. The first scope of an account has the account's name, later ones the name and a number.
create table ledger.scopes (
  id text primary key,
  -- The tenant_id that its records show; null: they show none.
  tenant text,
  -- The service as the settings named it when the scope was first used; loads are known by it ever since.
  service text,
  -- When an operator last said that it is still the same tenant: what was known before proves nothing against it.
  rebound_at timestamptz not null default '-infinity',
  created_at timestamptz not null default clock_timestamp()
);
-- How a scope is recognised: where the service is, and the keyed hash of the API key.
create table ledger.identities (
  origin text not null,
  fingerprint text not null,
  scope text not null references ledger.scopes,
  since timestamptz not null default clock_timestamp(),
  primary key (origin, fingerprint)
);
create index identities_by_scope on ledger.identities (scope);
-- The key of that hash.
create table ledger.fingerprint_key (
  is_only boolean primary key default true check (is_only),
  secret text not null default gen_random_uuid()::text || gen_random_uuid()::text
);
insert into ledger.fingerprint_key default values;
-- The accounts of the settings, as names for scopes.
create table ledger.accounts (
  name text primary key,
  scope text not null references ledger.scopes,
  bound_at timestamptz not null default clock_timestamp()
);

-- Records that a list has shown and a later list must show again: the oldest, the newest, and some between.
create table ledger.witnesses (
  scope text not null,
  resource text not null,
  record_id text not null,
  -- What the record is recognised by, such as email and name.
  keys jsonb not null,
  seen_at timestamptz not null default clock_timestamp(),
  primary key (scope, resource, record_id)
);

-- What the linked record was recognised by when it was last seen to be the same; null: not known yet.
alter table ledger.links add known jsonb;

alter table ledger.runs add scope text;
update ledger.runs set scope = account;
alter table ledger.runs alter scope set not null;
drop index if exists ledger.runs_one_writer;
create unique index runs_one_writer on ledger.runs (scope, resource)
  where status in ('running', 'paused') and not dry_run;

alter table ledger.links rename account to scope;
alter table ledger.learnt rename account to scope;
alter table ledger.suspensions rename account to scope;
alter table ledger.loads rename account to scope;
alter table ledger.tasks rename account to scope;
alter table ledger.task_lists rename account to scope;
alter table ledger.deliveries rename account to scope;
alter table ledger.sync_notes rename account to scope;
-- Whatever else goes wrong, a target is never told two states of one task at the same time.
drop index if exists ledger.deliveries_one_sending;
create unique index deliveries_one_sending on ledger.deliveries (target, scope, sync, kind, task_id) where state = 'sending';

-- Until now a scope was an account's name; which tenant it is shows when the account is next opened.
insert into ledger.scopes (id)
  select account from ledger.runs union select scope from ledger.links union select scope from ledger.tasks
  union select scope from ledger.learnt union select scope from ledger.loads;
insert into ledger.accounts (name, scope) select id, id from ledger.scopes;
