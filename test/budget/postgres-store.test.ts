import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/budget/postgres-store.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { testStore } from './store-suite.ts';

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
  });

  test('many processes may open it at the same time', async () => {
    const fresh = await freshDatabase();
    const opening = Array.from({ length: 8 }, () => openPostgresStore({ pool: fresh.pool }));
    await expect(Promise.all(opening)).resolves.toHaveLength(8);
    await fresh.close();
  });
});
