/**
 * A week of 200 schedules on a clock that is set, one of them every minute, and retention every hour: starts that were missed or
 * made twice, runs that were in the way, and the size of the ledger. Runs do not call a service: they add and settle rows.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { ledgerMigrations } from '../src/engine/ledger/migrations.ts';
import { pruneLedger } from '../src/engine/ledger/retention/prune.ts';
import { ledgerSize } from '../src/engine/ledger/retention/size.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { startRun } from '../src/engine/ledger/runs.ts';
import { keepSchedules, makeDueStarts, type ScheduledSync } from '../src/engine/ledger/schedules.ts';
import { nextStart } from '../src/settings/next-start.ts';
import type { Schedule } from '../src/settings/schedules.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openDatabase } from '../src/storage/open.ts';
import type { Row } from './table.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 7;
const SYNCS = 200;
const HOURLY = 20;
/** Rows of a run that does not run every minute. */
const ROWS = 50;
const KEPT_MS = DAY;
const MOST_GROWTH = 1.1;
/** Processes with the role scheduler. */
const SCHEDULERS = 2;

const MISSED = { missed: 'run-once' } as const;
const EVERY_MINUTE: ScheduledSync = {
  sync: 'often',
  schedule: { kind: 'every', everyMs: MINUTE, jitterMs: 0, ...MISSED },
};

function schedules(): readonly ScheduledSync[] {
  const other = Array.from({ length: SYNCS - 1 }, (_, n): ScheduledSync => {
    const cron = n < HOURLY ? `${n} * * * *` : `${n % 60} ${n % 24} * * *`;
    const schedule: Schedule = { kind: 'cron', cron, timezone: 'Europe/Berlin', jitterMs: 10 * MINUTE, ...MISSED };
    return { sync: `sync-${n}`, schedule };
  });
  return [EVERY_MINUTE, ...other];
}

interface Going {
  readonly run: string;
  readonly sync: string;
  readonly since: Date;
  readonly until: number;
}

interface Week {
  readonly starts: Map<string, string[]>;
  inTheWay: number;
  /** Of the ledger, at the end of each day. */
  readonly bytes: number[];
}

export async function week(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const database = await openDatabase({ url: 'embedded', dataDir: path.join(dir, 'data') });
  try {
    await migrate(database.pool, 'ledger', await ledgerMigrations());
    const beginning = Math.floor(Date.now() / DAY) * DAY - DAYS * DAY;
    const startedAtMs = performance.now();
    const simulated = await simulate(database.pool, beginning);
    return rowsOf(simulated, beginning, (performance.now() - startedAtMs) / 1_000);
  } finally {
    await database.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** The week before today, so that nothing happens in the future of the database. */
async function simulate(pool: pg.Pool, beginning: number): Promise<Week> {
  const week: Week = { starts: new Map(), inTheWay: 0, bytes: [] };
  let going: Going[] = [];
  const begin = async ({ sync, dueAt }: { readonly sync: string; readonly dueAt: Date }, now: Date) => {
    week.starts.set(sync, [...(week.starts.get(sync) ?? []), dueAt.toISOString()]);
    const run = { sync, type: 'contacts', account: sync, resource: 'customers', lane: 'batch', dryRun: false } as const;
    const begun = await startRun(pool, { ...run, options: {}, phase: 'scan-contacts' });
    if (begun.status === 'busy') week.inTheWay++;
    const tookMs = sync === EVERY_MINUTE.sync ? 30_000 : 20 * MINUTE;
    going.push({ run: begun.run.id, sync, since: now, until: now.getTime() + tookMs });
    return { status: 'made' } as const;
  };
  await keepSchedules(pool, schedules(), new Date(beginning));
  for (let at = beginning; at < beginning + DAYS * DAY; at += MINUTE / 2) {
    const now = new Date(at);
    const over = going.filter(({ until }) => until <= at);
    going = going.filter(({ until }) => until > at);
    for (const one of over) await end(pool, one);
    const looks = Array.from({ length: SCHEDULERS }, () => makeDueStarts(pool, (start) => begin(start, now), { now }));
    await Promise.all(looks);
    if (at % HOUR === 0) {
      const ageMs = Date.now() - at + KEPT_MS;
      await pruneLedger(pool, { rowsMs: ageMs, runsMs: ageMs });
      await pool.query('vacuum analyze'); // autovacuum looks every minute, and has no clock that can be set
    }
    if ((at + MINUTE / 2) % DAY === 0) {
      week.bytes.push((await ledgerSize(pool)).reduce((sum, { bytes }) => sum + bytes, 0));
    }
  }
  return week;
}

async function end(pool: pg.Pool, { run, sync, since, until }: Going): Promise<void> {
  const rows = sync === EVERY_MINUTE.sync ? 0 : ROWS;
  await pool.query(
    `with given as (insert into ledger.inputs (run_id, n, source_id, label, hash)
       select $1, n, 'c' || n, 'Person ' || n, md5(n::text) from generate_series(1, $2::int) n)
     insert into ledger.verdicts (run_id, n, verdict) select $1, n, 'updated' from generate_series(1, $2::int) n`,
    [run, rows],
  );
  await endRun(pool, run, 'done');
  await pool.query('update ledger.runs set created_at = $2, ended_at = $3 where id = $1', [
    run,
    since,
    new Date(until),
  ]);
}

function rowsOf({ starts, inTheWay, bytes }: Week, beginning: number, seconds: number): readonly Row[] {
  let [wanted, made, missed, doubled] = [0, 0, 0, 0];
  for (const { sync, schedule } of schedules()) {
    const times: string[] = [];
    const end = beginning + DAYS * DAY - MINUTE / 2;
    for (
      let at = nextStart(sync, schedule, new Date(beginning));
      at.getTime() <= end;
      at = nextStart(sync, schedule, at)
    )
      times.push(at.toISOString());
    const seen = starts.get(sync) ?? [];
    wanted += times.length;
    made += seen.length;
    missed += times.filter((time) => !seen.includes(time)).length;
    doubled += seen.length - new Set(seen).size;
  }
  const [, , early = 0] = bytes; // by then retention deletes as much as is added
  const last = bytes.at(-1) ?? 0;
  const mb = bytes.map((size) => (size / 1e6).toFixed(1)).join(', ');
  return [
    {
      what: `a week of ${SYNCS} syncs, one every minute, ${SCHEDULERS} schedulers: starts, missed, made twice, runs in the way`,
      wanted: `${wanted}, 0, 0, 0`,
      got: `${made}, ${missed}, ${doubled}, ${inTheWay} in ${seconds.toFixed(0)} s`,
      isMet: made === wanted && missed + doubled + inTheWay === 0,
    },
    {
      what: 'the ledger at the end of the week against the third day, with a day of rows and runs kept',
      wanted: `≤ ${MOST_GROWTH} ×`,
      got: `${(last / early).toFixed(2)} × (${mb} MB)`,
      isMet: last <= early * MOST_GROWTH,
    },
  ];
}
