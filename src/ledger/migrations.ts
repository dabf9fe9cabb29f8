/** The ledger's tables: the durable record of runs, rows, links and snapshots. Schema `ledger`. */
import type { Migration } from '../database/migrate.ts';

export const ledgerMigrations: readonly Migration[] = [
  {
    name: '001-runs',
    sql: `
      create table ledger.runs (
        id text primary key,
        sync text not null,
        job text not null,
        account text not null,
        -- What the run writes at the service; one unfinished run per account and resource (assumption A4).
        resource text not null,
        lane text not null,
        dry_run boolean not null,
        options jsonb not null,
        status text not null check (status in ('running', 'paused', 'done', 'failed', 'cancelled')),
        -- The job that carries the run on; null once it has ended.
        phase text,
        -- Where the phase stands, written in the same transaction as the rows it covers.
        checkpoint jsonb not null default '{}',
        notes jsonb not null default '[]',
        scan text check (scan in ('proven', 'weak', 'unproven')),
        rows_seen bigint not null default 0,
        rows_settled bigint not null default 0,
        read_backs int not null default 0,
        calls bigint not null default 0,
        limited bigint not null default 0,
        -- Rows by verdict, kept when the run ends.
        counts jsonb,
        error_code text,
        error text,
        -- Since when calls have failed without a success between them; null while all is well.
        trouble_since timestamptz,
        created_at timestamptz not null default now(),
        ended_at timestamptz
      );
      create unique index runs_one_per_sync on ledger.runs (sync)
        where status in ('running', 'paused') and not dry_run;
      create unique index runs_one_writer on ledger.runs (account, resource)
        where status in ('running', 'paused') and not dry_run;
      create index runs_newest on ledger.runs (created_at desc);

      -- A process's right to work on a run, fencing every write it makes: a claim that has expired writes nothing.
      create table ledger.claims (
        id bigint generated always as identity primary key,
        run_id text not null references ledger.runs on delete cascade,
        worker jsonb not null,
        -- An exclusive claim (scan, settle) tolerates no second one on its run.
        exclusive boolean not null,
        expires_at timestamptz not null
      );
      create index claims_by_run on ledger.claims (run_id);
      create unique index claims_one_exclusive on ledger.claims (run_id) where exclusive;

      create table ledger.rows (
        run_id text not null references ledger.runs on delete cascade,
        source_id text not null,
        n bigint not null,
        state text not null check (state in ('staged', 'ready', 'intent', 'acked', 'unknown', 'settled')),
        action text check (action in ('import', 'create', 'update')),
        verdict text check (verdict in ('created', 'updated', 'unchanged', 'existing', 'invalid', 'rejected', 'review', 'unknown')),
        reason text,
        detail text,
        label text,
        email text,
        phone text,
        name text,
        org text,
        hash text,
        fields jsonb,
        record_id text,
        pass int not null default 1,
        sends int not null default 0,
        claim_id bigint,
        since timestamptz,
        primary key (run_id, source_id)
      ) with (fillfactor = 70);
      -- What must not be sent again in later runs.
      create index rows_not_found on ledger.rows (source_id) where reason in ('NOT_RECOGNISED', 'NOT_IN_LIST');
      create index rows_open on ledger.rows (run_id, state, n) where state <> 'settled';

      -- The service's records as a run's read-backs saw them: the match index.
      create table ledger.records (
        run_id text not null references ledger.runs on delete cascade,
        record_id text not null,
        contact_id text,
        email text,
        phone text,
        name text,
        org text,
        fields jsonb not null,
        -- 0 is the baseline before the first write; what came later may be the run's own.
        first_pass int not null,
        last_pass int not null,
        -- The row it was matched with.
        taken_by text,
        -- Several rows want it, and a person decides.
        is_disputed boolean not null default false,
        primary key (run_id, record_id)
      );

      create table ledger.links (
        account text not null,
        kind text not null,
        source_id text not null,
        record_id text not null,
        -- Content hash of what was last brought in line; null: never compared yet.
        hash text,
        run_id text not null,
        linked_at timestamptz not null default now(),
        primary key (account, kind, source_id)
      );
      create unique index links_by_record on ledger.links (account, kind, record_id);

      create table ledger.snapshots (
        account text not null,
        kind text not null,
        record_id text not null,
        hash text not null,
        run_id text not null,
        seen_at timestamptz not null default now(),
        primary key (account, kind, record_id)
      );

      -- What was learnt about an account's service and is worth keeping: prefixes, whether import works.
      create table ledger.learnt (
        account text not null,
        name text not null,
        value jsonb not null,
        at timestamptz not null default now(),
        primary key (account, name)
      );
    `,
  },
  {
    name: '002-suspensions',
    sql: `
      -- Accounts whose key is refused: nothing is sent for them until a read has succeeded again.
      create table ledger.suspensions (
        account text primary key,
        -- What was refused, to be tried again.
        operation text not null,
        message text not null,
        since timestamptz not null default clock_timestamp(),
        refused_at timestamptz not null default clock_timestamp(),
        probes int not null default 0,
        probe_at timestamptz not null
      );
    `,
  },
  {
    name: '003-orders',
    sql: `
      -- One CSV file on its way to become orders. What came from the file is json, not jsonb: it keeps any character.
      create table ledger.loads (
        run_id text primary key references ledger.runs on delete cascade,
        account text not null,
        load_id text not null,
        file_name text not null,
        sha256 text not null,
        bytes bigint not null,
        header json not null,
        -- How the file was read, to write its results in the same form.
        form json not null,
        -- All rows are staged; nothing is sent before.
        is_received boolean not null default false,
        -- Who stages the rows, and when it was last at it.
        receiver jsonb not null,
        received_at timestamptz not null default clock_timestamp(),
        created_at timestamptz not null default now()
      );
      create index loads_by_file on ledger.loads (account, load_id);

      -- The row's cells as the file has them; the customer its order belongs to, and what one would be created with.
      alter table ledger.rows add cells json, add client_id text, add customer jsonb;
      -- What the row itself says, where its fields are that over what the record said.
      alter table ledger.rows add own_fields jsonb;
      -- The run that this one works for: they are cancelled and taken up together.
      alter table ledger.runs add part_of text references ledger.runs on delete set null;
      -- What people call it, where no sync of the settings names it: a file.
      alter table ledger.runs add title text;
      create index runs_by_whole on ledger.runs (part_of) where part_of is not null;
      -- An order's customer and its order_id.
      alter table ledger.records add client_id text, add label text;
      create index records_by_order on ledger.records (run_id, client_id, label) where label is not null;

      -- Which load an order's key belongs to while it is unfinished: loads side by side never send one order twice.
      create table ledger.order_keys (
        -- The account; of a dry run, which stands in nobody's way, the run.
        scope text not null,
        client_id text not null,
        label text not null,
        -- Of a run that is gone: anybody's. No reference, which would be looked up for each of a million keys.
        run_id text not null,
        primary key (scope, client_id, label)
      );
    `,
  },
  {
    name: '004-tasks',
    sql: `
      -- What a sync of tasks has last seen of each task, subtask and card of its account.
      create table ledger.tasks (
        account text not null,
        sync text not null,
        kind text not null check (kind in ('task', 'subtask', 'card')),
        task_id text not null,
        -- Of a subtask, its task; of a card, its pipeline.
        parent_id text,
        -- From 1 on, one more with every change that was seen.
        version int not null,
        -- As targets are told of it.
        state jsonb not null,
        hash text not null,
        -- Complete scans in a row that have not seen it.
        missed int not null default 0,
        is_gone boolean not null default false,
        -- When its subtasks were last asked for; of tasks only.
        subtasks_at timestamptz,
        changed_at timestamptz not null default clock_timestamp(),
        -- The target that this version came from; null: it was seen at the service.
        origin text,
        primary key (account, sync, kind, task_id)
      );
      create index tasks_by_parent on ledger.tasks (account, sync, kind, parent_id) where parent_id is not null;
      -- The lists whose first scan is over: what is new in them from then on is a change, and not the baseline.
      create table ledger.task_lists (
        account text not null,
        sync text not null,
        -- tasks, pipelines (all of them), or pipeline: and an id.
        list text not null,
        primary key (account, sync, list)
      );
      -- Of a run: what was seen and has not changed, kept as a number instead of a row each.
      alter table ledger.runs add unchanged bigint not null default 0;

      -- The outbox: one change on its way to one target.
      create table ledger.deliveries (
        -- The same over all attempts and replays.
        id text primary key,
        target text not null,
        account text not null,
        sync text not null,
        -- The run that has seen the change; of a run that is gone, nobody's.
        run_id text,
        kind text not null,
        task_id text not null,
        -- The task's version.
        sequence int not null,
        event text not null check (event in ('created', 'completed', 'reopened', 'changed', 'gone')),
        -- json, not jsonb: it keeps any character.
        task json not null,
        seen_at timestamptz not null,
        state text not null check (state in ('waiting', 'sending', 'ended')),
        verdict text check (verdict in ('delivered', 'already', 'skipped', 'superseded', 'dead')),
        reason text,
        detail text,
        -- What the target last answered.
        answer json,
        attempts int not null default 0,
        due_at timestamptz not null default clock_timestamp(),
        -- Under which claim it is being sent.
        claim_id bigint,
        -- The newer one of its task and target, seen while it was on its way: it is not tried again.
        newer_id text,
        created_at timestamptz not null default clock_timestamp(),
        ended_at timestamptz,
        check ((state = 'ended') = (verdict is not null))
      );
      create index deliveries_due on ledger.deliveries (target, due_at) where state = 'waiting';
      create index deliveries_in_order on ledger.deliveries (target, sync, kind, task_id, sequence);
      -- Whatever else goes wrong, a target is never told two states of one task at the same time.
      create unique index deliveries_one_sending on ledger.deliveries (target, sync, kind, task_id) where state = 'sending';
      create index deliveries_newest on ledger.deliveries (created_at desc);
      create index deliveries_by_run on ledger.deliveries (run_id);

      -- A process's right to send to a target for a while, fencing every outcome it writes.
      create table ledger.delivery_claims (
        id bigint generated always as identity primary key,
        target text not null,
        worker jsonb not null,
        expires_at timestamptz not null
      );

      -- Targets that accept nothing for now, or nothing any more.
      create table ledger.target_states (
        target text primary key,
        disabled_reason text,
        disabled_detail text,
        disabled_at timestamptz,
        blocked_until timestamptz,
        -- Since when nothing but failures has come from it; null while it answers.
        failing_since timestamptz,
        failing_detail text
      );
    `,
  },
];
