/** Every durable step of a process, found by watching it once: each write to a table of the ledger, and each call of the service. */
import pg from 'pg';
import { expect } from 'vitest';
import type { FreshDatabase } from '../support/database.ts';
import type { Between, FrontServer } from '../support/harness/front-server.ts';

/** Such as the 7th insert into `ledger.attempts`, or the 2nd call of `/api/v1/orders/create`: its answer is lost, or it is. */
export interface Step {
  readonly name: string;
  readonly nth: number;
  readonly kind: 'write' | 'call' | 'answer';
}

export interface ArmedStep {
  /** Resolves with the `application_name` of the process that has stopped, if its connection to Postgres says it. */
  readonly reached: Promise<string>;
  /** `isLost`: a write that waits is rolled back; otherwise it is committed now, though its process may be dead. */
  release(how: { readonly isLost: boolean }): Promise<void>;
}

export interface Watch {
  /** From now on, everything counts. */
  restart(): Promise<void>;
  /** The steps since then: the first of each kind, and the one in the middle where there are many. */
  steps(): Promise<readonly Step[]>;
  /** The process that comes to this step first stops there. */
  arm(step: Step): Promise<ArmedStep>;
}

const LOCK = 4711;
const MANY = 3;

/** Counts in sequences, because these count rows whose transaction is rolled back, too. */
export async function watchSteps({ pool, connection }: FreshDatabase, front: FrontServer): Promise<Watch> {
  const names = await addTriggers(pool);
  let calls = new Map<string, number>();
  let stopAt: { readonly step: Step; readonly stopped: () => void } | undefined;
  const between: Between = async ({ method, path }, pass) => {
    const name = `${method} ${path.replaceAll(/\/\d+/g, '/N')}`;
    const count = (calls.get(name) ?? 0) + 1;
    calls.set(name, count);
    const { step, stopped } = stopAt ?? {};
    if (step?.name !== name || step.nth !== count) return pass();
    if (step.kind === 'answer') await pass();
    stopped?.();
    return undefined;
  };
  return {
    async restart() {
      front.set(between);
      calls = new Map();
      for (const name of names) await pool.query(`alter sequence steps."${name}" restart`);
    },
    async steps() {
      const written = await pool.query<{ name: string; count: number }>(
        `select sequencename as name, last_value::int as count from pg_sequences where schemaname = 'steps' and last_value is not null order by 1`,
      );
      const writes = written.rows.flatMap(({ name, count }) => some(name, count, 'write'));
      const called = [...calls].flatMap(([name, count]) => [
        ...some(name, count, 'call'),
        ...some(name, count, 'answer'),
      ]);
      return [...writes, ...called];
    },
    async arm(step) {
      if (step.kind !== 'write') {
        const reached = new Promise<string>((resolve) => {
          stopAt = { step, stopped: () => resolve('') };
        });
        const release = async () => {
          stopAt = undefined;
        };
        return { reached, release };
      }
      const holder = new pg.Client(connection);
      await holder.connect();
      await holder.query('select pg_advisory_lock($1)', [LOCK]);
      await pool.query('insert into steps.stop values ($1, $2)', [step.name, step.nth]);
      let isReleased = false;
      const waiting = async (what: string) => {
        const found = await pool.query<{ what: string }>(
          `select ${what} as what from pg_locks l join pg_stat_activity a using (pid)
           where l.locktype = 'advisory' and l.objid = $1 and not l.granted and a.datname = current_database()`,
          [LOCK],
        );
        return found.rows[0]?.what;
      };
      let stopped: string | undefined;
      const look = async () => {
        stopped = isReleased ? '' : await waiting('a.application_name');
        return stopped;
      };
      const reached = expect
        .poll(look)
        .toBeDefined()
        .then(() => stopped ?? '');
      const release: ArmedStep['release'] = async ({ isLost }) => {
        isReleased = true;
        await pool.query('delete from steps.stop');
        if (isLost) await waiting('pg_terminate_backend(pid, 5000)');
        await holder.end();
      };
      return { reached, release };
    },
  };
}

function some(name: string, count: number, kind: Step['kind']): readonly Step[] {
  const first = { name, nth: 1, kind };
  return count > MANY ? [first, { name, nth: Math.ceil(count / 2), kind }] : [first];
}

/** One sequence for each table of the ledger and each way to write to it. */
async function addTriggers(pool: pg.Pool): Promise<readonly string[]> {
  await pool.query(`
    create schema steps;
    create table steps.stop (name text, nth bigint);
    create function steps.count() returns trigger language plpgsql as $$ begin
      if nextval(format('steps.%I', tg_argv[0])) = (select nth from steps.stop where name = tg_argv[0]) then
        perform pg_advisory_xact_lock(${LOCK});
      end if;
      return coalesce(new, old);
    end $$`);
  const tables = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ledger'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  );
  const names: string[] = [];
  for (const { name: table } of tables.rows)
    for (const event of ['insert', 'update', 'delete']) {
      const name = `${event} ${table}`;
      names.push(name);
      await pool.query(`create sequence steps."${name}";
        create trigger "count ${event}" before ${event} on ledger."${table}" for each row execute function steps.count('${name}')`);
    }
  return names;
}
