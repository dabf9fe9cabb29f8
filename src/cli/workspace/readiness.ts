/** Whether this process can do its work: the checks of `/readyz`, and whether a later version has changed the tables. */
import type pg from 'pg';
import { LockstepError, messageOf } from '../../base/errors.ts';
import { inTime } from '../../base/in-time.ts';
import { pause } from '../../base/pause.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import type { SharedQueue } from '../../engine/worker/queue.ts';
import type { Scheduler } from '../../engine/worker/scheduler.ts';
import { migrationsOf, refuseLater } from '../../storage/migrate.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { allMigrations } from './all-migrations.ts';

export interface Check {
  readonly name: 'start' | 'database' | 'schema' | 'queue' | 'scheduler';
  readonly status: 'ok' | 'failed';
  readonly detail?: string;
}

export interface ReadinessNeeds {
  /** Whether all roles of this process have started. */
  readonly isStarted: () => boolean;
  readonly pool: pg.Pool;
  /** Undefined if this process works on no runs. */
  readonly queue: () => Pick<SharedQueue, 'depth'> | undefined;
  /** Undefined if this process starts no due syncs. */
  readonly scheduler: () => Pick<Scheduler, 'idleMs'> | undefined;
}

/** How long a database or a queue may take to answer. */
export const TIMEOUT_MS = 2_000;
/** A start in progress may wait for a service. */
const LONGEST_IDLE_MS = 60_000;

/** Never rejects, and ends within seconds. */
export function checkReadiness({ isStarted, pool, queue, scheduler }: ReadinessNeeds): Promise<readonly Check[]> {
  const [shared, starting] = [queue(), scheduler()];
  return Promise.all([
    check('start', async () => checkStarted(isStarted())),
    check('database', () => pool.query('select 1')),
    check('schema', () => checkSchema(pool)),
    ...(shared ? [check('queue', () => shared.depth())] : []),
    ...(starting ? [check('scheduler', async () => checkScheduler(starting))] : []),
  ]);
}

async function check(name: Check['name'], work: () => Promise<unknown>): Promise<Check> {
  try {
    await inTime(work(), TIMEOUT_MS);
    return { name, status: 'ok' };
  } catch (error) {
    return { name, status: 'failed', detail: messageOf(error) };
  }
}

function checkStarted(isStarted: boolean): void {
  if (!isStarted) throw new Error('this process is still starting');
}

async function checkSchema(pool: pg.Pool): Promise<void> {
  const known = await ledgerMigrations();
  const made = await migrationsOf(pool, 'ledger');
  const missing = known.flatMap(({ name }) => (made.has(name) ? [] : [name]));
  if (missing.length > 0) throw new Error(`the database lacks ${missing.join(', ')}: restart this process`);
  refuseLater('ledger', made, known);
}

function checkScheduler(scheduler: Pick<Scheduler, 'idleMs'>): void {
  const idleS = Math.round(scheduler.idleMs() / 1_000);
  if (idleS * 1_000 > LONGEST_IDLE_MS) throw new Error(`due syncs were last looked for ${idleS} s ago`);
}

const LOOK_MS = 2_000;

/** Resolves with SCHEMA_NEWER once a later version has migrated any table, or with undefined once the signal aborts. */
export async function laterVersion(db: Queryable, signal: AbortSignal): Promise<LockstepError | undefined> {
  const rooms = await allMigrations();
  while (!signal.aborted) {
    try {
      for (const [room, known] of Object.entries(rooms)) refuseLater(room, await migrationsOf(db, room), known);
    } catch (error) {
      if (error instanceof LockstepError) return error;
      // The database is away: all other parts of the process say so.
    }
    await pause(LOOK_MS, signal);
  }
  return undefined;
}
