-- A record as the API shows it, made when it is written and not each time it is listed. The times are in UTC whatever the
-- database's time zone is, so the function is immutable, which a generated column requires.
create function service.record_json(
  tenant_id bigint, id bigint, created_at timestamptz, updated_at timestamptz, link text, fields jsonb
) returns text language plpgsql immutable as $$ begin
  return '{"id":' || id || ',"tenant_id":' || tenant_id
    || ',"created_at":' || left(to_json(created_at at time zone 'UTC')::text, -1) || '+00:00"'
    || ',"updated_at":' || left(to_json(updated_at at time zone 'UTC')::text, -1) || '+00:00"'
    || link || case fields when '{}' then '}' else ', ' || substr(fields::text, 2) end;
end $$;
alter table service.contacts add column json text not null generated always as (
  service.record_json(tenant_id, id, created_at, updated_at, '', fields)) stored;
alter table service.customers add column json text not null generated always as (service.record_json(
  tenant_id, id, created_at, updated_at, ',"contact_id":' || coalesce(contact_id::text, 'null'), fields)) stored;
alter table service.orders add column json text not null generated always as (service.record_json(
  tenant_id, id, created_at, updated_at, ',"client_id":' || client_id, fields)) stored;
alter table service.tasks add column json text not null generated always as (
  service.record_json(tenant_id, id, created_at, updated_at, '', fields)) stored;
alter table service.subtasks add column json text not null generated always as (service.record_json(
  tenant_id, id, created_at, updated_at, ',"task_id":' || task_id, fields)) stored;
