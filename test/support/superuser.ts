/**
 * A connection as the superuser of an embedded Postgres, who cannot log in: the test changes the access rules of its own
 * server.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const TRIES = 200;

/** To be ended by the caller. Every role but Lockstep's may log in until the next start of that Postgres. */
export async function superuserOf(dataDir: string, connection: pg.ClientConfig): Promise<pg.Client> {
  const data = path.join(dataDir, 'postgres/data');
  fs.appendFileSync(path.join(data, 'pg_hba.conf'), 'local all all trust\n');
  process.kill(Number(fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGHUP');
  for (let tries = 1; ; tries += 1) {
    const db = new pg.Client({ ...connection, user: 'postgres' });
    try {
      await db.connect();
      return db;
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(10); // the server reloads its rules after a while
    }
  }
}
