-- A ledger that is written once: the input of a row never changes, what happens to it is appended, and its state follows from
-- that. See src/engine/ledger/README.md for the states and what leads from one to another.
alter table ledger.rows rename to rows_before;
alter index ledger.rows_pkey rename to rows_before_pkey;
drop function if exists ledger.claim_rows;

-- What a run was given: a contact, a line of a file, a changed task. JSON of a file is json, not jsonb: it keeps any character.
create table ledger.inputs (
  run_id text not null,
  -- In the order in which they were seen; of a file, the line.
  n bigint not null,
  -- What the source calls it; null: n itself.
  source_id text,
  label text, email text, phone text, name text, org text,
  hash text,
  client_id text,
  fields jsonb,
  customer jsonb,
  cells json,
  primary key (run_id, n)
);
create unique index inputs_by_source on ledger.inputs (run_id, source_id) where source_id is not null;

-- The record that a row was matched with: the customer of an order, the customer of a contact.
create table ledger.matches (
  run_id text not null,
  n bigint not null,
  kind text not null check (kind in ('customer', 'order')),
  record_id text not null,
  -- The evidence, such as e-mail.
  by text not null,
  primary key (run_id, n, kind)
);

-- Planned rows before this one have been claimed. Rows to send again are listed in `again`.
alter table ledger.runs add next_n bigint not null default 0, drop claimed_to;
create table ledger.again (
  run_id text not null,
  n bigint not null,
  primary key (run_id, n)
);

-- Rows that a claim holds, durably before any of them is sent. A row is in a chunk once.
create table ledger.chunks (
  id bigint generated always as identity primary key,
  claim_id bigint not null references ledger.claims on delete cascade,
  run_id text not null,
  rows bigint[] not null
);
create index chunks_by_claim on ledger.chunks (claim_id);
create index chunks_by_run on ledger.chunks (run_id);

-- Each time that a row was claimed, and its outcome.
create table ledger.attempts (
  id bigint generated always as identity,
  run_id text not null,
  n bigint not null,
  -- The chunk it was claimed in; null: of an earlier version.
  chunk_id bigint,
  at timestamptz not null default clock_timestamp(),
  action text,
  -- acked: the service accepted it; refused: it did not; unknown: it may have; lost: claimed by a process that is gone;
  -- unsent: not sent, or answered with "slow down".
  outcome text not null check (outcome in ('acked', 'refused', 'unknown', 'lost', 'unsent')),
  -- How often the row was sent since it was planned, this time included where it may have arrived.
  sends int not null,
  http int,
  reason text,
  facts jsonb,
  ms int
);
create index attempts_by_row on ledger.attempts (run_id, n);
create index attempts_in_doubt on ledger.attempts (run_id, n) where outcome in ('unknown', 'lost');

create function ledger.attempts_so_far() returns bigint language sql volatile as $$
  select coalesce(pg_sequence_last_value('ledger.attempts_id_seq'), 0) $$;
-- What is to be sent for a row.
create table ledger.plans (
  run_id text not null,
  n bigint not null,
  action text not null check (action in ('import', 'create', 'update')),
  -- The record that is updated.
  record_id text,
  -- What is sent, if it differs from the input.
  fields jsonb,
  -- Attempts up to this id belong to an earlier plan of the row.
  attempts_before bigint not null default ledger.attempts_so_far(),
  primary key (run_id, n)
);
create table ledger.verdicts (
  run_id text not null,
  n bigint not null,
  verdict text not null
    check (verdict in ('created', 'updated', 'unchanged', 'existing', 'invalid', 'rejected', 'review', 'unknown')),
  reason text,
  facts jsonb,
  record_id text,
  at timestamptz not null default clock_timestamp(),
  primary key (run_id, n)
);
-- Verdicts that an audit or a retry has replaced.
create table ledger.former_verdicts (
  run_id text not null,
  n bigint not null,
  verdict text not null,
  reason text,
  facts jsonb,
  record_id text,
  at timestamptz not null,
  replaced_at timestamptz not null default clock_timestamp()
);
create index former_verdicts_by_row on ledger.former_verdicts (run_id, n);

-- Rows of earlier versions, each with what is known of its last attempt.
insert into ledger.inputs (run_id, n, source_id, label, email, phone, name, org, hash, client_id, fields, customer, cells)
  select run_id, case when count(*) over (partition by run_id, n) > 1
      then (1::bigint << 40) + row_number() over (partition by run_id order by n, source_id) else n end,
    nullif(source_id, n::text), label, email, phone, name, org, hash, client_id, coalesce(own_fields, fields), customer, cells
  from ledger.rows_before;
create temp table moved on commit drop as
  select i.n as new_n, r.* from ledger.rows_before r join ledger.inputs i
    on i.run_id = r.run_id and coalesce(i.source_id, i.n::text) = r.source_id;
insert into ledger.plans (run_id, n, action, record_id, fields, attempts_before)
  select run_id, new_n, action, record_id, case when action = 'update' then fields end, 0 from moved
  where action is not null and state <> 'staged';
insert into ledger.again (run_id, n) select run_id, new_n from moved where state = 'ready' and action is not null;
update ledger.runs u set next_n = coalesce((select max(n) + 1 from ledger.inputs i where i.run_id = u.id), 0);
insert into ledger.attempts (run_id, n, at, action, outcome, sends, reason, facts)
  select run_id, new_n, case state when 'intent' then clock_timestamp() else coalesce(since, clock_timestamp()) end, action,
    case state when 'intent' then 'lost' when 'acked' then 'acked' when 'unknown' then 'unknown'
      when 'settled' then case verdict when 'rejected' then 'refused' else 'acked' end else 'unknown' end,
    sends, case when state in ('acked', 'unknown') then reason end,
    case when state in ('acked', 'unknown') and detail is not null then jsonb_build_object('said', detail) end
  from moved where state in ('intent', 'acked', 'unknown') or sends > 0;
insert into ledger.verdicts (run_id, n, verdict, reason, facts, record_id, at)
  select run_id, new_n, verdict, reason, case when detail is not null then jsonb_build_object('said', detail) end, record_id,
    coalesce(since, clock_timestamp())
  from moved where state = 'settled' and verdict is not null;
delete from ledger.claims;
drop table ledger.rows_before;
drop table if exists ledger.snapshots;

-- What the lists of the service showed to a run. It can be read again, so it need not survive a crash of the database.
drop table if exists ledger.records;
create unlogged table ledger.records (
  run_id text not null,
  kind text not null check (kind in ('customer', 'order')),
  record_id text not null,
  contact_id text, email text, phone text, name text, org text,
  client_id text, label text,
  fields jsonb not null,
  -- 0 is the baseline before the first write; what came later may be the run's own.
  first_pass int not null,
  last_pass int not null,
  -- The row it was matched with.
  taken_by text,
  -- Several rows want it, and a person decides.
  is_disputed boolean not null default false,
  primary key (run_id, kind, record_id)
);

-- Which reads of a list the records come from: as unlogged as the records, so that a crash of the database empties both.
create unlogged table ledger.reads (
  run_id text not null,
  kind text not null check (kind in ('customer', 'order')),
  pass int not null,
  primary key (run_id, kind, pass)
);

create or replace function ledger.forget_run() returns trigger language plpgsql as $$
  begin
    delete from ledger.inputs where run_id = old.id;
    delete from ledger.matches where run_id = old.id;
    delete from ledger.plans where run_id = old.id;
    delete from ledger.again where run_id = old.id;
    delete from ledger.attempts where run_id = old.id;
    delete from ledger.verdicts where run_id = old.id;
    delete from ledger.former_verdicts where run_id = old.id;
    delete from ledger.records where run_id = old.id;
    delete from ledger.reads where run_id = old.id;
    return null;
  end $$;
create or replace trigger forget_run after delete on ledger.runs for each row execute function ledger.forget_run();

-- Creations at targets that are accounts of the service: until now among the links.
-- The last creation of an item for a task, written before it is sent.
create table ledger.creations (
  scope text not null,
  target text not null,
  -- Such as task:12.
  source_id text not null,
  at timestamptz not null default clock_timestamp(),
  -- The service has said that it accepted it.
  is_taken boolean not null default false,
  primary key (scope, target, source_id)
);
insert into ledger.creations (scope, target, source_id, at, is_taken)
  select scope, substr(kind, length('creating:') + 1), source_id, linked_at, hash is not distinct from 'taken'
  from ledger.links where starts_with(kind, 'creating:');
delete from ledger.links where starts_with(kind, 'creating:');

-- Of each row the last time it was claimed and recorded.
create view ledger.last_attempts as
  select a.* from ledger.attempts a where not exists (
    select from ledger.attempts later where later.run_id = a.run_id and later.n = a.n and later.id > a.id);

-- A row with its state, for those who read a few; statements over whole runs read the tables.
create view ledger.rows as
  select i.run_id, coalesce(i.source_id, i.n::text) as source_id, i.n,
    case when v.run_id is not null then 'settled' when p.run_id is null then 'staged'
      when g.run_id is not null or p.n >= u.next_n then 'ready' when c.is_held then 'intent'
      when a.outcome = 'acked' then 'acked' when a.outcome in ('unknown', 'lost') then 'unknown' else 'ready' end as state,
    case when a.outcome <> 'unsent' and a.id > p.attempts_before then a.action else p.action end as action, v.verdict, w.reason, coalesce(w.facts, case when i.fields ? 'event' then jsonb_build_object('event', i.fields->'event') end) as facts,
    i.label, i.email, i.phone, i.name, i.org, i.hash, i.customer, i.cells, coalesce(p.fields, i.fields) as fields,
    coalesce(m.record_id, i.client_id) as client_id,
    -- A contact that has one of several customers, by count, has a match and a verdict without a record.
    coalesce(v.record_id, p.record_id, case when v.run_id is null or u.job = 'orders' then o.record_id end) as record_id,
    case when a.id > coalesce(p.attempts_before, 0) then a.sends else 0 end as sends, a.at as since
  from ledger.inputs i
    join ledger.runs u on u.id = i.run_id
    left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
    left join ledger.plans p on p.run_id = i.run_id and p.n = i.n
    left join ledger.again g on g.run_id = i.run_id and g.n = i.n
    left join ledger.last_attempts a on a.run_id = i.run_id and a.n = i.n
    cross join lateral (select
      case when v.run_id is not null then v.reason when a.id > p.attempts_before then a.reason end as reason,
      case when v.run_id is not null then v.facts when a.id > p.attempts_before then a.facts end as facts) w
    left join (select run_id, unnest(rows) as n, true as is_held, id from ledger.chunks) c on c.run_id = i.run_id and c.n = i.n
      and not exists (select from ledger.attempts r where r.run_id = c.run_id and r.n = c.n and r.chunk_id = c.id)
    left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer' and u.job = 'orders'
    left join ledger.matches o on o.run_id = i.run_id and o.n = i.n and (o.kind = 'order' or u.job <> 'orders');

-- What the contact with this content hash was: label, email, phone, name, org. Null: the contact becomes a row of the next run.
alter table ledger.links add contact jsonb;

-- Ids of the customers that the list showed before the first write of a run, as hashes (src/customers/baseline.ts).
create table ledger.baselines (
  run_id text not null references ledger.runs on delete cascade,
  part int not null,
  ids bytea not null,
  primary key (run_id, part)
);

-- The row of a debt by its number.
alter table ledger.audit_debts add n bigint;
update ledger.audit_debts d set n = i.n from ledger.inputs i
  where i.run_id = d.run_id and coalesce(i.source_id, i.n::text) = d.source_id;
