-- Writes that people make by hand in the console. Each is stored before it is sent, so that it is sent once.
create table ledger.hand_calls (
  -- Chosen with the form, so a form that is sent twice is one call.
  id uuid primary key,
  at timestamptz not null default clock_timestamp(),
  who text not null,
  scope text not null,
  account text not null,
  operation text not null,
  -- JSON: the parameters of the path, and the body, as sent.
  path text not null,
  body text not null,
  -- The page that the form was on.
  page text not null,
  -- Hash of what is sent, while the outcome of a call is not known that must not be sent twice; otherwise null.
  open_content text,
  -- Null while it is being sent, and if the process ended before the answer.
  ended_at timestamptz,
  status text check (status in ('applied', 'refused', 'limited', 'not-sent', 'unknown')),
  http_status int,
  message text,
  -- What a person found out about an unknown outcome: that it was applied, or that it was not.
  found text check (found in ('applied', 'absent'))
);
-- Two calls with the same content are not sent while the outcome of the first is not known.
create unique index hand_calls_open on ledger.hand_calls (scope, open_content);
create index hand_calls_old on ledger.hand_calls (at);
