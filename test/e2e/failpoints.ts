/**
 * Points at which a process stops for a test to kill it there. They work from outside: the process sends a request that
 * is not answered, or runs a statement that waits for a lock held by the test.
 */
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import type { FreshDatabase } from '../support/database.ts';
import type { FrontServer } from '../support/harness/front-server.ts';

export interface Failpoint {
  /** Arms the failpoint. Await it before the process starts. */
  arm(servers: Servers): Promise<Armed>;
}

export interface Armed {
  /** Resolves once the process has stopped there. */
  readonly reached: Promise<void>;
  /** Releases everything; the end of the test does, too. */
  release(): Promise<void>;
}

export interface Servers {
  readonly front: FrontServer;
  readonly database: FreshDatabase;
}

/** At the `nth` request of this path: the request is passed on and its answer held back, or it is not passed on. */
export function unanswered(path: string, nth = 1, how: { isPassedOn: boolean } = { isPassedOn: false }): Failpoint {
  return {
    async arm({ front }) {
      let stand = () => {};
      const reached = new Promise<void>((resolve) => {
        stand = resolve;
      });
      let asked = 0;
      front.set(async (request, pass) => {
        if (!request.path.endsWith(path) || ++asked < nth) return pass();
        if (how.isPassedOn) await pass();
        stand();
        return undefined;
      });
      return { reached, release: async () => front.set() };
    },
  };
}

/** Where it writes such a row: `when` is SQL over `new`. What it has committed before stays. */
export function writing(table: string, event: 'insert' | 'update' | 'delete', when: string): Failpoint {
  return {
    async arm({ database: { pool, connection } }) {
      await pool.query(`
        create or replace function public.stand_still() returns trigger language plpgsql as $$
          begin perform pg_advisory_xact_lock(4711); return coalesce(new, old); end $$;
        create trigger stand_still before ${event} on ${table} for each row when (${when}) execute function public.stand_still()`);
      const holder = new pg.Client(connection);
      await holder.connect();
      await holder.query('select pg_advisory_lock(4711)');
      const waits = () =>
        pool.query(`select 1 from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
          where l.locktype = 'advisory' and l.objid = 4711 and not l.granted`);
      const release = async () => {
        await holder.end();
        await pool.query(`drop trigger if exists stand_still on ${table}`);
      };
      onTestFinished(release); // or the next tests would stop there, too, if this one fails
      const reached = expect.poll(async () => (await waits()).rowCount).toBeGreaterThan(0);
      return { reached, release };
    },
  };
}
