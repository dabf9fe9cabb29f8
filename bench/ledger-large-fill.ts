/** Fills a ledger with the rows of a year: contacts, loads of orders, polls that found nothing, rows that wait, deliveries. */
import type pg from 'pg';
import { recordFigures } from '../src/engine/ledger/views/run-figures.ts';

export const SYNCS = 200;

const CONTACT_SYNCS = 4;
const NIGHTS = 365;
const CONTACTS = 100_000;
const CHANGED = 40;
const LARGEST = 2_000_000;
const LARGE = 100_000;
const SMALL = 500;
const SMALL_LOADS = 600;
const POLLS = 10_000;
const DELIVERIES = 100_000;

/** Names of runs that are measured by themselves. */
export const LARGEST_RUN = 'run-largest';
export const REVIEWED_RUN = 'run-reviewed';
export const UNSETTLED_RUN = 'run-unsettled';

interface FilledRun {
  readonly id: string;
  readonly job: 'contacts' | 'orders' | 'tasks';
  readonly sync: string;
  readonly rows: number;
  /** Which rows have which end: see VERDICT. */
  readonly kind: 'first' | 'nightly' | 'load' | 'reviewed' | 'unsettled' | 'running' | 'poll';
  readonly status: 'done' | 'failed' | 'running';
  readonly minutesAgo: number;
}

const MINUTES_A_DAY = 24 * 60;

/** The runs of a year with `rows` rows in all. */
function runsOf(rows: number): readonly FilledRun[] {
  const runs: FilledRun[] = [];
  for (let sync = 1; sync <= CONTACT_SYNCS; sync++) {
    const of = { job: 'contacts', sync: `contacts-${sync}`, status: 'done' } as const;
    for (let night = NIGHTS; night >= 1; night--) {
      const kind = night === NIGHTS ? ('first' as const) : ('nightly' as const);
      const minutesAgo = night * MINUTES_A_DAY - sync;
      runs.push({ ...of, id: `run-c${sync}-${night}`, rows: kind === 'first' ? CONTACTS : CHANGED, kind, minutesAgo });
    }
  }
  const load = { job: 'orders', kind: 'load', status: 'done' } as const;
  const one = (id: string, more: Partial<FilledRun>) => {
    runs.push({ ...load, id, sync: `orders:${id}`, rows: LARGE, minutesAgo: 0, ...more });
  };
  for (let n = 1; n <= SMALL_LOADS; n++)
    one(`run-s${n}`, { rows: SMALL, minutesAgo: (n * NIGHTS * MINUTES_A_DAY) / SMALL_LOADS });
  one(LARGEST_RUN, { rows: LARGEST, minutesAgo: 100 * MINUTES_A_DAY });
  one(REVIEWED_RUN, { kind: 'reviewed', minutesAgo: 3 * MINUTES_A_DAY });
  one(UNSETTLED_RUN, { kind: 'unsettled', status: 'failed', minutesAgo: 2 * MINUTES_A_DAY });
  one('run-running', { kind: 'running', status: 'running', minutesAgo: 10 });
  const left = rows - runs.reduce((sum, run) => sum + run.rows, 0);
  const loads = Math.max(0, Math.ceil(left / LARGE));
  for (let n = 1; n <= loads; n++) {
    const size = Math.min(LARGE, left - (n - 1) * LARGE);
    one(`run-l${n}`, { rows: size, minutesAgo: ((n + 4) * NIGHTS * MINUTES_A_DAY) / (loads + 5) });
  }
  for (let n = 1; n <= POLLS; n++) {
    const sync = n % 5 === 0 ? `poll-${(n / 5) % (SYNCS - CONTACT_SYNCS - 1)}` : 'task-mirror';
    runs.push({ id: `run-p${n}`, job: 'tasks', sync, rows: 0, kind: 'poll', status: 'done', minutesAgo: n * 5 + 0.5 });
  }
  return runs.toSorted((a, b) => b.minutesAgo - a.minutesAgo);
}

/** SQL: the verdict and reason of row `n` of a run `r`; null: none yet. */
const VERDICT = `case r.kind
    when 'first' then case when n % 500 = 0 then 'review' when n % 7 = 0 then 'existing' else 'created' end
    when 'nightly' then case when n % 20 = 0 then 'review' when n % 20 = 1 then 'rejected' when n % 2 = 0 then 'updated' else 'created' end
    when 'reviewed' then case when n % 5 = 0 then 'review' else 'created' end
    when 'unsettled' then case when n <= 50000 then 'created' end
    when 'running' then case when n <= 40000 then 'created' end
    else case when n % 1000 = 1 then 'review' when n % 100 = 2 then 'invalid' when n % 100 = 3 then 'rejected' when n % 50 = 4 then 'existing' else 'created' end
  end`;

/** SQL: rows of unfinished and failed runs from here on were never sent. */
const SENT_TO = `case r.kind when 'unsettled' then 80000 when 'running' then 45000 else r.rows end`;

/** SQL: the rows of all runs, the oldest first. Each run is in order by itself, so nothing has to be sorted. */
const EACH_ROW = '(select * from filling order by started) r cross join lateral generate_series(1, r.rows) n';

const RUNS: readonly string[] = [
  `insert into ledger.scopes (id, tenant, service) values ('shop', '1', 'http://shop.invalid')`,
  `insert into ledger.accounts (name, scope) values ('shop', 'shop')`,
  `insert into ledger.runs (id, sync, job, account, scope, resource, lane, dry_run, options, status, phase, title, scan, calls, rows_seen,
     unchanged, next_n, created_at, attended_at, ended_at, error_code, error)
   select id, sync, job, 'shop', 'shop', case job when 'contacts' then 'customers' else job end, 'batch', false, '{}', status,
     case when status <> 'done' then 'create-orders' end, case job when 'orders' then id || '.csv' end, case when job <> 'orders' then 'proven' end,
     greatest(4, rows), rows, case job when 'orders' then 0 when 'contacts' then ${CONTACTS} else 400 end,
     ${SENT_TO} + 1, started, started, case when status <> 'running' then started + interval '4 min' end,
     case when status = 'failed' then 'SERVICE_DOWN' end, case when status = 'failed' then 'the service was away' end
   from filling r order by started`,
  `insert into ledger.loads (run_id, scope, load_id, file_name, sha256, bytes, header, form, is_received, receiver)
   select id, 'shop', md5(id), id || '.csv', md5(id) || md5(id), rows * 60, '["order_id","email","amount","date"]', '{}', true, '{}'
   from filling r where job = 'orders'`,
];

/** Two lists of statements that can run at the same time. */
const ROWS: readonly (readonly string[])[] = [
  [
    `insert into ledger.inputs (run_id, n, source_id, label, email, phone, name, org, hash, fields, customer, cells)
   select r.id, n, case when job = 'contacts' then 'c' || n end, case when job = 'contacts' then 'Person ' || n else r.id || '-' || n end,
     'person' || (n * 37 % 100000) || '@example.org', case when job = 'contacts' then '4930' || 1000000 + n end, 'person ' || n,
     case when job = 'contacts' then 'org ' || n % 5000 end, case when job = 'contacts' then md5(n::text) end,
     case when job = 'contacts' then jsonb_build_object('first_name', 'Person', 'last_name', n::text, 'email', 'person' || n || '@example.org')
       else jsonb_build_object('order_id', r.id || '-' || n, 'amount', (n % 500)::text || '.90', 'date', '2026-01-02') end,
     case when job = 'orders' then jsonb_build_object('email', 'person' || (n * 37 % 100000) || '@example.org') end,
     case when job = 'orders' then json_build_array(r.id || '-' || n, 'person' || (n * 37 % 100000) || '@example.org', (n % 500)::text || '.90', '2026-01-02') end
   from ${EACH_ROW}`,
    `insert into ledger.matches (run_id, n, kind, record_id, by)
   select r.id, n, 'customer', (n * 37 % 100000)::text, 'e-mail' from ${EACH_ROW},
     lateral (select ${VERDICT} as verdict) v
   where job = 'orders' and coalesce(verdict, '') not in ('review', 'invalid')`,
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id)
   select 'shop', 'contact-' || s, 'c' || n, n::text, md5(n::text), 'run-c' || s || '-${NIGHTS}'
   from generate_series(1, ${CONTACT_SYNCS}) s, generate_series(1, ${CONTACTS}) n order by 1, 2, 3`,
    `insert into ledger.deliveries (id, target, scope, sync, run_id, kind, task_id, sequence, event, task, seen_at, state, verdict, reason,
     attempts, due_at, created_at, ended_at)
   select 'msg_' || md5(n::text), 'hook-' || n % 4, 'shop', 'task-mirror', 'run-p' || 1 + (${DELIVERIES} - n) % ${POLLS}, 'task', (n % 5000)::text, n / 5000 + 1,
     'changed', json_build_object('id', (n % 5000)::text, 'title', 'Task ' || n), at, state, verdict,
     case verdict when 'dead' then 'GONE' end, 1, at, at, case state when 'ended' then at + interval '1 s' end
   from generate_series(1, ${DELIVERIES}) n, lateral (select now() - (${DELIVERIES} - n) * interval '30 s' as at,
     case when n > ${DELIVERIES} - 500 then 'waiting' else 'ended' end as state,
     case when n > ${DELIVERIES} - 500 then null when n % 1000 = 0 then 'dead' else 'delivered' end as verdict) made order by at`,
  ],
  [
    `insert into ledger.verdicts (run_id, n, verdict, reason, facts, record_id, at)
   select r.id, n, verdict,
     case verdict when 'review' then case job when 'contacts' then 'AMBIGUOUS_MATCH' else 'AMBIGUOUS_CUSTOMER' end
       when 'rejected' then 'REFUSED' when 'invalid' then 'AMOUNT_UNREADABLE' when 'existing' then 'SAME' end,
     case verdict when 'review' then jsonb_build_object('customers', jsonb_build_array(n, n + 1), 'by', 'e-mail')
       when 'rejected' then jsonb_build_object('said', 'refused', 'http', 422) when 'invalid' then jsonb_build_object('column', 'amount', 'line', n) end,
     case when verdict in ('created', 'updated', 'existing') then (n + 1000000)::text end, r.started + interval '3 min'
   from ${EACH_ROW}, lateral (select ${VERDICT} as verdict) v where verdict is not null`,
    `insert into ledger.evidence (run_id, n, customers)
   select v.run_id, v.n, jsonb_build_object(v.n::text, jsonb_build_object('email', 'one@example.org'), (v.n + 1)::text, null)
   from ledger.verdicts v join filling r on r.id = v.run_id and r.job = 'contacts' where v.verdict = 'review'`,
    `insert into ledger.plans (run_id, n, action, attempts_before)
   select r.id, n, case job when 'contacts' then 'import' else 'create' end, 0 from ${EACH_ROW},
     lateral (select ${VERDICT} as verdict) v
   where coalesce(verdict, 'created') in ('created', 'updated', 'rejected')`,
    `insert into ledger.attempts (run_id, n, at, action, outcome, sends, http, reason, facts, ms)
   select r.id, n, r.started + n * interval '3 min' / r.rows, case job when 'contacts' then 'import' else 'create' end,
     case when verdict = 'rejected' then 'refused' when verdict is null and n % 10 = 0 then 'unknown' else 'acked' end, 1,
     case when verdict = 'rejected' then 422 else 200 end, case when verdict = 'rejected' then 'REFUSED' end, null, 20 + n % 60
   from ${EACH_ROW}, lateral (select ${VERDICT} as verdict) v
   where coalesce(verdict, 'created') in ('created', 'updated', 'rejected') and n <= ${SENT_TO}`,
    `update ledger.runs u set counts = coalesce((select jsonb_object_agg(verdict, n) from (
       select verdict, count(*) as n from ledger.verdicts v where v.run_id = u.id group by 1
       union all select 'unchanged', u.unchanged where u.unchanged > 0
       union all select 'unknown', r.rows - (select count(*) from ledger.verdicts v where v.run_id = u.id)
         where r.kind = 'unsettled') each), '{}')
   from filling r where r.id = u.id and u.status <> 'running'`,
  ],
];

/** Adds `rows` rows and what belongs to them; without `analyze` Postgres has no statistics about them. */
export async function fillLedger(pool: pg.Pool, rows: number): Promise<void> {
  const db = await pool.connect();
  try {
    await db.query(
      'create table filling (id text, job text, sync text, rows int, kind text, status text, started timestamptz)',
    );
    await db.query(
      `insert into filling select id, job, sync, rows, kind, status, now() - "minutesAgo" * interval '1 min'
       from json_to_recordset($1) r (id text, job text, sync text, rows int, kind text, status text, "minutesAgo" float8)`,
      [JSON.stringify(runsOf(rows))],
    );
    await inTurn(db, RUNS);
    await withoutIndexes(db, async () => {
      const [first = [], second = []] = ROWS;
      await Promise.all([inTurn(db, first), inTurn(pool, second)]);
    });
    // As when they ended.
    const ended = await db.query<{ id: string }>(`select id from filling where status <> 'running' and rows > 0`);
    for (const { id } of ended.rows) await recordFigures(db, id);
    await db.query('drop table filling');
  } finally {
    db.release();
  }
}

/** Indexes are made twice as fast once all rows are there. */
async function withoutIndexes(db: pg.PoolClient, fill: () => Promise<void>): Promise<void> {
  const indexes = await db.query<{ name: string; sql: string }>(
    `select indexname as name, indexdef as sql from pg_indexes where schemaname = 'ledger'
       and tablename in ('inputs', 'matches', 'plans', 'attempts', 'verdicts') and not exists (select from pg_constraint where conname = indexname)`,
  );
  for (const { name } of indexes.rows) await db.query(`drop index ledger.${name}`);
  await fill();
  await db.query(`set maintenance_work_mem = '256MB'`);
  for (const { sql } of indexes.rows) await db.query(sql);
  await db.query('analyze');
}

async function inTurn(db: pg.Pool | pg.PoolClient, statements: readonly string[]): Promise<void> {
  for (const sql of statements) await db.query(sql);
}
