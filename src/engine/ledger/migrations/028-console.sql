-- The console: who is signed in, and what people did with it.
create table ledger.console_sessions (
  -- Hash of the token in the browser's cookie; the token itself is nowhere else.
  id bytea primary key,
  who text not null,
  -- Made with the token from the password: a session ends when the password changes.
  proof bytea not null,
  expires_at timestamptz not null
);
create index console_sessions_expired on ledger.console_sessions (expires_at);

create table ledger.console_actions (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  who text not null,
  via text not null check (via in ('page', 'api')),
  -- Such as cancel-run.
  action text not null,
  -- The run or the sync.
  about text not null,
  -- Null if it was done; otherwise the code of the error.
  refused text
);
