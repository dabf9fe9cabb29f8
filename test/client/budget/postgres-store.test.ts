import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../../src/client/budget/postgres-store.ts';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { testStore } from './store-suite.ts';

const TIMES = [
  ...['tat', 'interactive_turns', 'batch_turns', 'share_at', 'blocked_until', 'recover_from'],
  ...['waited_for_until', 'counted_until', 'bound_until', 'retry_asked'],
];

describe('the Postgres store', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  testStore({
    open: () => openPostgresStore({ pool: database.pool }),
    openAway: async () => {
      const pool = new pg.Pool(database.connection);
      const store = await openPostgresStore({ pool });
      await pool.end();
      return store;
    },
    setLearnt: async (key, { rateAtCut, recoverFromUs, grownUs }) => {
      const set = 'update budget.keys set rate_at_cut = $2, recover_from = $3, grown = $4 where key = $1';
      await database.pool.query(set, [key, rateAtCut, recoverFromUs, grownUs]);
    },
    moveTimes: async (key, ms) => {
      const moved = TIMES.map((name) => `${name} = ${name} + ${ms * 1000}`);
      await database.pool.query(`update budget.keys set ${moved.join(', ')} where key = $1`, [key]);
      const holders = `update budget.holders set since = since + $2, expires_at = expires_at + $2 where key = $1`;
      await database.pool.query(holders, [key, ms * 1000]);
    },
    crash: async () => {
      await database.pool.query('truncate budget.keys, budget.holders'); // as Postgres does with unlogged tables after a crash
    },
  });

  test('many processes can open it at the same time', async () => {
    const fresh = await emptyDatabase();
    const opening = Array.from({ length: 8 }, () => openPostgresStore({ pool: fresh.pool }));
    await expect(Promise.all(opening)).resolves.toHaveLength(8);
    await fresh.close();
  });
});
