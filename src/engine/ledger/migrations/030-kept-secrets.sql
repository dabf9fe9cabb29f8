-- Secrets that vendors make: tokens that expire, and secrets of webhooks. Encrypted with a secret of the settings.
create table ledger.kept_secrets (
  target text not null,
  -- handshake: no secret, only the time until which a handshake of a webhook is answered.
  kind text not null check (kind in ('token', 'hook', 'handshake')),
  sealed bytea not null,
  -- Null: it does not expire.
  expires_at timestamptz,
  primary key (target, kind)
);

-- Null: the call did not say it, so the item has to be read.
alter table ledger.item_reports alter column is_completed drop not null;
