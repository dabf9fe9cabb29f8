-- Folding as in contact-search.ts. A Postgres without pg_trgm, or that does not let us have it, has no index: searches give the
-- same and take longer.
update service.contacts set folded = (
  select jsonb_object_agg(name, (
    select string_agg(case when letter = '' or ascii(letter) between 32 and 126 then letter
      else 'X' || translate(lpad(to_hex(ascii(letter)), 6, '0'), '0123456789abcdef', 'ABCDEFGHIJKLMNOP') end, '' order by at)
    from regexp_split_to_table(value, '') with ordinality as letters (letter, at)))
  from jsonb_each_text(folded) as member (name, value))
where folded::text ~ '[^ -~]|\\';
alter table service.contacts add column searched text not null generated always as (
  coalesce(folded->>'first_name', '') || ' ' || coalesce(folded->>'last_name', '') || E'\n' ||
  coalesce(folded->>'email', '') || E'\n' || coalesce(folded->>'phone', '')) stored;
do $$ begin
  create extension if not exists pg_trgm with schema service;
  execute (
    select format('create index contacts_by_text on service.contacts using gin (searched %I.gin_trgm_ops)', nspname)
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'pg_trgm');
exception when feature_not_supported or undefined_file or insufficient_privilege then null;
end $$;
