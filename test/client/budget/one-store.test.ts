/** All processes of a database keep the rate budgets in one store. */
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { useOneStore } from '../../../src/client/budget/one-store.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { anError } from '../../support/matchers.ts';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database?.close());

const use = async (redisPrefix?: string) => {
  const used = await useOneStore({ connection: database.connection, redisPrefix });
  onTestFinished(() => used.close());
  return used;
};
/** The database ends a session only after its client has gone. */
const useOnceFree = (redisPrefix?: string) => vi.waitFor(() => use(redisPrefix), { timeout: 10_000 });
const refused = (where: string) => anError('BUDGET_STORES', where, 2);

test('any number of processes use one store', async () => {
  for (let n = 0; n < 3; n++) await use('lockstep');
});

test.each([
  [
    undefined,
    'lockstep',
    'keeps the rate budgets in Postgres; this one would keep them in Redis, with the prefix lockstep',
  ],
  ['lockstep', undefined, 'keeps the rate budgets in Redis; this one would keep them in Postgres'],
  ['lockstep', 'other', 'in Redis, with another prefix; this one would keep them in Redis, with the prefix other'],
])(
  'a process with another store than those that run is refused until they have ended (%s, %s)',
  async (first, second, where) => {
    const used = await useOnceFree(first);
    await expect(use(second)).rejects.toMatchObject(refused(where));
    await used.close();
    await useOnceFree(second);
  },
);

test('a process whose sessions were lost names its store again', async () => {
  await useOnceFree();
  await database.pool.query(
    `select pg_terminate_backend(pid, 5000) from pg_locks join pg_database d on d.oid = database
     where datname = current_database() and locktype = 'advisory'`,
  );
  const isRefused = async () => {
    const other = await useOneStore({ connection: database.connection, redisPrefix: 'lockstep' }).catch(
      () => undefined,
    );
    await other?.close();
    return other === undefined;
  };
  await expect.poll(isRefused).toBe(true);
});

test('a process is refused also if both start at the same time', async () => {
  const results = await Promise.allSettled([use(), use('lockstep')]);
  expect(results.map(({ status }) => status)).toContain('rejected');
});
