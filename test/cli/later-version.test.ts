import { afterAll, expect, test } from 'vitest';
import { laterVersion } from '../../src/cli/workspace/readiness.ts';
import { freshDatabase } from '../support/database.ts';
import { anError } from '../support/matchers.ts';

const db = await freshDatabase();
afterAll(() => db.close());

test.each(['ledger', 'budget', 'service'])(
  'notices that a later version has migrated the tables of %s',
  async (room) => {
    const noticing = laterVersion(db.pool, new AbortController().signal);
    await db.pool.query(`insert into public.lockstep_migrations (room, name) values ($1, '999-later')`, [room]);
    const later = await noticing;
    await db.pool.query(`delete from public.lockstep_migrations where name = '999-later'`);
    expect(later).toMatchObject(anError('SCHEMA_NEWER', `${room}: 999-later`));
  },
);

test('waits while the database is away, and until the signal aborts', async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const query = async (text: string) => {
    asked.push(text);
    stop.abort();
    throw new Error('Connection terminated unexpectedly');
  };
  expect(await laterVersion({ query } as never, stop.signal)).toBeUndefined(); // safe: only queries are made
  expect(asked).toHaveLength(1);
});
